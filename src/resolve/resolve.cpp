#include "resolve/resolve.hpp"

#include "resolve/bfd.hpp"
#include "resolve/lld.hpp"
#include "resolve/mold.hpp"

namespace elfaudit {

Resolution resolve(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  switch (job.linker) {
    case LinkerKind::Lld:
      return LldLink(job, inputs).run();
    case LinkerKind::Mold:
      return MoldLink(job, inputs).run();
    case LinkerKind::Bfd:
    case LinkerKind::Gold:
    case LinkerKind::Unknown:
      break;
  }
  return BfdLink(job, inputs).run();
}

}  // namespace elfaudit
