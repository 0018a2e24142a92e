/* Stands in for what a binding library's headers compile to: an extension module that needs names of the interpreter. */
extern void *PyModule_Create2(void *, int);
#ifdef PYBIND11_LIKE
extern void **_PyObject_GetDictPtr(void *);
#if PYTHON_MINOR >= 13
#define thread_state PyThreadState_GetUnchecked
#else
#define thread_state _PyThreadState_UncheckedGet
#endif
extern void *thread_state(void);
void *instance_dict(void *object) { return thread_state() ? *_PyObject_GetDictPtr(object) : 0; }
#endif
#ifdef NEW_GLIBC /* in libc.so.6 since 2.34 */
extern int pthread_create(void *, void *, void *(*)(void *), void *);
int start(void *thread, void *(*run)(void *)) { return pthread_create(thread, 0, run, 0); }
#endif
#ifdef OLD_CYTHON_LIKE /* CPython 3.12 has no strings that are not ready */
extern int _PyUnicode_Ready(void *);
int ready(void *string) { return _PyUnicode_Ready(string); }
#endif
void *PyInit__C(void) { return PyModule_Create2(0, 1013); }
