#include "p.h"
int main(void){return count()?0:1;}
