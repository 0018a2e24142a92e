"""The corpus with debug info: C++ units in the shape of a program's, compiled with -g, and two that include a header
which defines a variable and a function. Compiling is slow, so most objects are copies of compiled ones in which a tag of
fixed length, part of every name, is another: their names, DWARF and paths are consistent."""

import pathlib
import subprocess

COMMON = r"""
#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace common {
template <class T> class Registry {
  std::map<std::string, T> by_name_; std::vector<T> order_;
public:
  void put(const std::string& name, const T& value) { by_name_[name] = value; order_.push_back(value); }
  int size() const { return int(by_name_.size()); }
};
inline std::string join(const std::vector<std::string>& parts, char between) {
  std::string text; for (auto& part : parts) { if (!text.empty()) text += between; text += part; } return text; }
struct Base { virtual ~Base() = default; virtual int eval(int) const = 0; };
struct Add : Base { int k; explicit Add(int k) : k(k) {} int eval(int x) const override { return x + k; } };
inline std::unique_ptr<Base> make_add(int k) { return std::make_unique<Add>(k); }
}
"""
UNIT = r"""
#include <iostream>
#include "common.hpp"
namespace TAG {
struct Item { int id; double weight; std::string label; std::vector<int> deps; };
template <int D> struct Node {
  std::map<std::string, std::vector<Item>> table; Node<D - 1> next;
  int total(const std::string& key) { int sum = 0; auto it = table.find(key);
    if (it != table.end()) for (auto& item : it->second) sum += item.id + int(item.deps.size());
    return sum + next.total(key + char('a' + D)); }
};
template <> struct Node<0> { int total(const std::string&) { return 0; } };
int counter = 1;
std::map<int, std::vector<std::string>> index;
int first(int x) { auto p = common::make_add(1); std::map<int, std::string> m; m[x] = "a"; return p->eval(int(m[x].size())); }
int second(int x) { std::vector<std::string> v(x, "b"); return int(common::join(v, ',').size()); }
void report(std::ostream& out) { for (auto& [key, words] : index) out << key << ':' << common::join(words, ' ') << '\n'; }
int run(int n) { Node<DEPTH> node; common::Registry<Item> items; items.put("a", Item{n, 1.5, "x", {1, 2, n}});
  index[n].push_back("word"); report(std::cout); return node.total("1") + first(n) + second(n) + items.size(); }
}
"""
SHARED_STATE = "#pragma once\nint shared_counter = 42;\nint shared_helper(int x) {\n  return x * shared_counter;\n}\n"
VIOLATOR = '#include <iostream>\n#include "common.hpp"\n#include "shared_state.hpp"\nnamespace LETTER_unit {{ int use(int n) {{ std::cout << n; return shared_helper(n); }} }}\n'


def write(path, text):
    path.write_text(text)


def build(folder, compiler, compiled, copies):
    """Objects in folder/obj: `compiled` units and `copies` copies of each, violator_a.o and violator_b.o."""
    source, objects = folder / "src", folder / "obj"
    source.mkdir(parents=True, exist_ok=True)
    objects.mkdir(exist_ok=True)
    write(source / "common.hpp", COMMON)
    write(source / "shared_state.hpp", SHARED_STATE)
    units = []
    for letter in "ab":
        units.append(source / f"violator_{letter}.cpp")
        write(units[-1], VIOLATOR.replace("LETTER", letter).replace("{{", "{").replace("}}", "}"))
    for i in range(compiled):
        units.append(source / f"q0{i:03d}.cpp")
        write(units[-1], UNIT.replace("TAG", f"q0{i:03d}").replace("DEPTH", "3" if i % 4 == 0 else "1"))
    for unit in units:
        output = objects / (unit.stem + ".o")
        if not output.exists():
            subprocess.run([compiler, "-std=c++17", "-g", "-O1", "-c", f"src/{unit.name}", "-o", f"obj/{output.name}"], cwd=folder, check=True)
    for i in range(compiled):
        tag = f"q0{i:03d}".encode()
        content = (objects / f"q0{i:03d}.o").read_bytes()
        for k in range(1, copies + 1):
            other = b"q%d%03d" % (k, i)
            pathlib.Path(objects / f"{other.decode()}.o").write_bytes(content.replace(tag, other))
