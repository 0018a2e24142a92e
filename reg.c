#include "p.h"
struct plugin *plugins;
void add_plugin(struct plugin*p){p->next=plugins;plugins=p;}
int count(void){int n=0;for(struct plugin*p=plugins;p;p=p->next)n++;return n;}
