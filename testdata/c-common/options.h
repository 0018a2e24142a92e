/* Before GCC 10 this was a tentative definition that every source shared (-fcommon). */
int verbosity;
