#include "scan/device/decode_all.hpp"

#include <optional>
#include <utility>

#include "elf/object_bytes.hpp"
#include "scan/device/device.hpp"
#include "support/threads.hpp"

namespace elfaudit {
namespace {

struct Task {
  InputFacts* input = nullptr;
  ObjectFacts* object = nullptr;
  std::uint32_t image = 0;
  std::span<const std::byte> bytes;  ///< of the object
  std::optional<DeviceSymbols> symbols = {};
  std::optional<InputError> error = {};
};

class ImageDecoder {
 public:
  /// One task for each image of each object, in order.
  void gather(InputFacts& input) {
    for (ObjectFacts& object : input.objects) {
      if (object.device.decoded.size() == object.device.images.size()) continue;  // there are none, or all are
      try {
        const std::span<const std::byte> bytes = files_.of(object.origin);
        for (std::uint32_t i = 0; i < object.device.images.size(); ++i)
          if (!object.device.decoded.contains(i)) tasks_.push_back({&input, &object, i, bytes});
      } catch (const InputError& error) {  // it was there a moment ago
        input.errors.push_back(error);
      }
    }
  }

  void run(unsigned jobs) {
    with_threads(jobs, [&] { for_each_parallel(tasks_.size(), 1, [&](std::size_t i) { decode(tasks_[i]); }); });
    for (Task& task : tasks_) {
      if (task.error) task.input->errors.push_back(*task.error);
      if (task.symbols) task.object->device.decoded.emplace(task.image, std::move(*task.symbols));
    }
  }

 private:
  static void decode(Task& task) {
    const DeviceImage& image = task.object->device.images[task.image];
    try {
      const std::vector<std::byte> payload = read_payload(task.object->origin, task.bytes, image);
      task.symbols = read_device_symbols(task.object->origin, image, payload);
    } catch (const InputError& error) {
      task.error = error;
    }
  }

  ObjectBytes files_;
  std::vector<Task> tasks_;
};

}  // namespace

void decode_all(std::vector<InputFacts>& inputs, unsigned jobs) {
  for (InputFacts& input : inputs) {
    ImageDecoder decoder;
    decoder.gather(input);
    decoder.run(jobs);
  }
}

}  // namespace elfaudit
