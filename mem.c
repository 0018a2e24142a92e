#include "p.h"
int gain_run(int x){return x*2;}
struct plugin gain_plugin={"gain",gain_run,0};
void __attribute__((constructor)) gain_register(void){add_plugin(&gain_plugin);}
