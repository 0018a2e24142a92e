/* Stands in for what a binding library's headers compile to: an extension module that needs names of the interpreter. */
extern void *PyModule_Create2(void *, int);
#ifdef PYBIND11_LIKE
extern void **_PyObject_GetDictPtr(void *);
extern void *_PyThreadState_UncheckedGet(void);
void *instance_dict(void *object) { return _PyThreadState_UncheckedGet() ? *_PyObject_GetDictPtr(object) : 0; }
#endif
#ifdef NEW_GLIBC /* in libc.so.6 since 2.34 */
extern int pthread_create(void *, void *, void *(*)(void *), void *);
int start(void *thread, void *(*run)(void *)) { return pthread_create(thread, 0, run, 0); }
#endif
void *PyInit__C(void) { return PyModule_Create2(0, 1013); }
