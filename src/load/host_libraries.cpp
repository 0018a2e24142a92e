// Libraries that a host program (Python, torch, the driver) has loaded before.

#include "load/host_libraries.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace elfaudit {
namespace {

template <std::size_t N>
bool starts_with_one_of(std::string_view name, const std::array<std::string_view, N>& starts) {
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return name.starts_with(start); });
}

/// What is in torch/lib and made by torch; what else lies there (libgomp-*.so.1) is found by torch's own RPATH.
constexpr std::array<std::string_view, 5> kTorch = {"libtorch.", "libtorch_", "libc10.", "libc10_", "libcaffe2"};

/// As the C++ ABI writes c10::, at::, torch::, c10d:: and caffe2:: at the start of a nested name, const or not.
constexpr std::array<std::string_view, 10> kTorchNamespaces = {
    "N3c10", "NK3c10", "N2at", "NK2at", "N5torch", "NK5torch", "N4c10d", "NK4c10d", "N6caffe2", "NK6caffe2"};
constexpr std::array<std::string_view, 4> kTorchFunctions = {"THP", "torch_", "aoti_torch_", "c10_"};

/// What the NVIDIA driver's packages and the container runtime install, never the CUDA toolkit.
constexpr std::array<std::string_view, 7> kDriver = {"libcuda.so",    "libnvidia-",       "libnvcuvid.so",
                                                     "libnvoptix.so", "libcudadebugger.", "libGLX_nvidia.",
                                                     "libEGL_nvidia."};

/// Functions of Python 2 that no CPython has had since 3.3: C accepts a call without a declaration, with a warning.
/// Source: https://docs.python.org/3.2/howto/cporting.html, PEP 393 (PyUnicodeUCS4_*), Include/ of CPython 2.7 and 3.3.
constexpr std::array<std::string_view, 16> kPython2 = {
    "PyString_",       "_PyString_",      "PyInt_",          "_PyInt_",        "PyCObject_",     "PyClass_",
    "PyInstance_New",  "PyInstance_Type", "PyUnicodeUCS2_",  "PyUnicodeUCS4_", "Py_InitModule3", "Py_InitModule4",
    "PyNumber_Coerce", "PyNumber_Divide", "PyFile_FromFile", "PyFile_AsFile"};

/// A name of one of torch's namespaces, or with one of its types among the parameters; or one of its C functions.
bool names_torch(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return starts_with_one_of(symbol, kTorchFunctions);
  return std::any_of(kTorchNamespaces.begin(), kTorchNamespaces.end(),
                     [&](std::string_view part) { return symbol.find(part) != std::string_view::npos; });
}

}  // namespace

Host host_of(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  if (starts_with_one_of(name, kTorch)) return Host::Torch;
  if (starts_with_one_of(name, kDriver)) return Host::Driver;
  return name.starts_with("libpython") ? Host::Python : Host::None;
}

bool may_define(Host host, std::string_view symbol) {
  switch (host) {
    case Host::Python:
      return symbol.starts_with("Py") || symbol.starts_with("_Py");
    case Host::Driver:
      // cuMemCreate, nvmlInit_v2, cuvidCreateDecoder, NvFBCCreateInstance
      return symbol.starts_with("nvml") || symbol.starts_with("cuvid") || symbol.starts_with("Nv") ||
             (symbol.size() > 2 && symbol.starts_with("cu") && symbol[2] >= 'A' && symbol[2] <= 'Z');
    case Host::Torch:
      return names_torch(symbol);
    case Host::None:
      break;
  }
  return false;
}

bool comes_with_the_process(std::string_view name) {
  if (may_define(Host::Python, name) || name == "__tls_get_addr") return true;
  for (const std::string_view start :
       {"__asan_", "__hwasan_", "__lsan_", "__msan_", "__tsan_", "__ubsan_", "__sanitizer_"})
    if (name.starts_with(start)) return true;
  return false;
}

bool is_of_python_2(std::string_view symbol) { return starts_with_one_of(symbol, kPython2); }

bool is_python_module(const ObjectFacts& object) {
  const std::string name =
      std::filesystem::path(object.origin.is_member() ? object.origin.member : object.origin.path).filename().string();
  if (name.find(".cpython-") != std::string::npos || name.ends_with(".abi3.so")) return true;
  return std::any_of(object.symbols.begin(), object.symbols.end(), [&](const Symbol& symbol) {
    return symbol.defined() && object.name(symbol).starts_with("PyInit_");
  });
}

std::string torch_folder_beside(const std::string& path) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"})
    if (const std::size_t at = path.rfind(folder); at != std::string::npos)
      return path.substr(0, at + folder.size()) + "torch/lib";
  return {};
}

const std::vector<std::string>& libraries_of_the_interpreter() {
  static const std::vector<std::string> names = {"libc.so.6",  "libm.so.6",     "libpthread.so.0",
                                                 "libdl.so.2", "librt.so.1",    "libutil.so.1",
                                                 "libz.so.1",  "libexpat.so.1", "libcrypt.so.1"};
  return names;
}

}  // namespace elfaudit
