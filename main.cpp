#include "p.h"
int main(){return tests().empty();}
