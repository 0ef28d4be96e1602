#include <vector>
#define CHECK(x) do { } while (0)

namespace geo::flat {

// A node.
template <typename T, class A = std::allocator<T>>
class Node final : public Base<T>, private Other {
 public:
  Node() = default;
  explicit Node(T v) : value_(v) {}
  virtual ~Node();
  T value() const noexcept override { return value_; }
  virtual void draw(Canvas& c) = 0;
  bool operator==(const Node& o) const { return true; }
  static int count;
  struct Part { int x; };
  enum class Kind : int { Leaf, Inner };
  using Ptr = Node*;

 private:
  T value_;
};

template <typename T>
Node<T>::~Node() {}

std::vector<int>& all(int n) {
  static std::vector<int> v(n);
  auto f = [](int x) { return x; };
  return v;
}

int* Tree::find(const std::string& key) const { return nullptr; }

namespace { void hidden() {} }

}  // namespace geo::flat

using Text = std::string;
typedef unsigned long ulong_t;
constexpr int kMax = 3;

extern "C" { void from_c(int); }

std::ostream& operator<<(std::ostream& o, const Text& t) { return o; }
Vec::operator bool() const { return true; }
auto trailing(int a) -> int { return a; }
template <> int special<int>(int v) { return v; }
