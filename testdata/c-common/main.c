#include "options.h"
void print(void);
int main(void) {
  verbosity = 1;
  print();
  return 0;
}
