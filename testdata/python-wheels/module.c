/* Stands in for what a binding library's headers compile to: an extension module that needs names of the interpreter. */
extern void *PyModule_Create2(void *, int);
#ifdef PYBIND11_LIKE
extern void **_PyObject_GetDictPtr(void *);
extern void *_PyThreadState_UncheckedGet(void);
void *instance_dict(void *object) { return _PyThreadState_UncheckedGet() ? *_PyObject_GetDictPtr(object) : 0; }
#endif
void *PyInit__C(void) { return PyModule_Create2(0, 1013); }
