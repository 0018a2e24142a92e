#include "resolve/resolve.hpp"

#include "resolve/bfd.hpp"
#include "resolve/lld.hpp"
#include "resolve/mold.hpp"
#include "target/linker_traits.hpp"

namespace elfaudit {

Resolution resolve(const LinkJob& job, const std::vector<InputFacts>& inputs) {
  switch (traits_of(job).rules) {
    case ResolutionRules::Lld:
      return LldLink(job, inputs).run();
    case ResolutionRules::Mold:
      return MoldLink(job, inputs).run();
    case ResolutionRules::GnuLd:
      break;
  }
  return BfdLink(job, inputs).run();
}

}  // namespace elfaudit
