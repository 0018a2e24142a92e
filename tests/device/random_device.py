"""Random device links: which objects there are, what each says of a few names, and the line that links them."""

import random

# What an object says of the name N. K is the name of a kernel of its own; kinds of one sort may meet under one name.
SORTS = {
    "variable": {
        "device": "__device__ int N = 1;",
        "zero": "__device__ int N;",
        "array": "__device__ int N[4] = {1};",
        "constant": "__constant__ int N = 1;",
        "managed": "__managed__ int N = 1;",
        "pointer": "__device__ int (*N)(int) = nullptr;",
        "inline": "inline __device__ int N = 1; __global__ void K(int* p) { *p = N; }",
        "inline array": "inline __device__ int N[4] = {1}; __global__ void K(int* p) { *p = N[*p]; }",
        "static": "static __device__ int N = 1; __global__ void K(int* p) { *p = N; }",
        "extern": "extern __device__ int N; __global__ void K(int* p) { *p = N; }",
        "extern array": "extern __device__ int N[4]; __global__ void K(int* p) { *p = N[*p]; }",
        "extern []": "extern __device__ int N[]; __global__ void K(int* p) { *p = N[*p]; }",
        "extern constant": "extern __constant__ int N; __global__ void K(int* p) { *p = N; }",
        "extern constant []": "extern __constant__ int N[]; __global__ void K(int* p) { *p = N[*p]; }",
        "unused extern": "extern __device__ int N;",
    },
    "shared": {
        "shared": "__shared__ int N[4]; __global__ void K(int* p) { N[*p] = 1; __syncthreads(); *p = N[p[1]]; }",
        "larger": "__shared__ int N[8]; __global__ void K(int* p) { N[*p] = 1; __syncthreads(); *p = N[p[1]]; }",
        "inline shared": "inline __shared__ int N[4]; __global__ void K(int* p) { N[*p] = 1; __syncthreads(); *p = N[p[1]]; }",
        "static shared": "static __shared__ int N[4]; __global__ void K(int* p) { N[*p] = 1; __syncthreads(); *p = N[p[1]]; }",
        "extern shared": "extern __shared__ int N[4]; __global__ void K(int* p) { N[*p] = 1; __syncthreads(); *p = N[p[1]]; }",
        "extern larger": "extern __shared__ int N[8]; __global__ void K(int* p) { N[*p] = 1; __syncthreads(); *p = N[p[1]]; }",
        "extern struct": "struct N_t { int a[4]; }; extern __shared__ N_t N; __global__ void K(int* p) { N.a[*p] = 1; __syncthreads(); *p = N.a[p[1]]; }",
        "extern []": "extern __shared__ int N[]; __global__ void K(int* p) { N[*p] = 1; __syncthreads(); *p = N[p[1]]; }",
        "extern double []": "extern __shared__ double N[]; __global__ void K(int* p) { N[*p] = 1; __syncthreads(); *p = N[p[1]]; }",
        "in a function": "extern __shared__ int N[4]; __device__ __noinline__ int K(int x) { N[x] = 1; __syncthreads(); return N[x + 1]; }",
        "device": "__device__ int N[4] = {1};",
        "inline device": "inline __device__ int N[4] = {1}; __global__ void K(int* p) { *p = N[*p]; }",
        "extern device []": "extern __device__ int N[]; __global__ void K(int* p) { *p = N[*p]; }",
    },
    "function": {
        "function": "__device__ int N(int x) { return x; }",
        "inline": "inline __device__ __noinline__ int N(int x) { return x; } __global__ void K(int* p) { *p = N(*p); }",
        "static": "static __device__ __noinline__ int N(int x) { return x; } __global__ void K(int* p) { *p = N(*p); }",
        "called": "__device__ int N(int); __global__ void K(int* p) { *p = N(*p); }",
        "called by the dead": "__device__ int N(int); __device__ int K(int x) { return N(x); }",
        "address": "__device__ int N(int); __device__ int (*K)(int) = N;",
        "in a table": "__device__ int N(int); __constant__ int (*K[])(int) = {nullptr, N};",
        "host and device": "__host__ __device__ int N(int x) { return x; }",
        "of another type": "__device__ int N(long x) { return x; }",
    },
    "c function": {
        "function": 'extern "C" __device__ int N(int x) { return x; }',
        "other": 'extern "C" __device__ double N(double x, int y) { return x; }',
        "called": 'extern "C" __device__ int N(int); __global__ void K(int* p) { *p = N(*p); }',
        "called otherwise": 'extern "C" __device__ double N(double, int); __global__ void K(double* p) { *p = N(*p, 1); }',
        "address": 'extern "C" __device__ int N(int); __device__ int (*K)(int) = N;',
    },
    "kernel": {
        "kernel": "__global__ void N(int* p) { *p = 1; }",
        "template": "template <class T> __global__ void N(T* p) { *p = 1; } template __global__ void N<int>(int*);",
        "static": "static __global__ void N(int* p) { *p = 1; } void K() { N<<<1, 1>>>(nullptr); }",
    },
    "class": {
        "inline": "struct N { __device__ virtual int m(int x) { return x; } }; __global__ void K(N* p) { new (p) N; }",
        "key function": "struct N { __device__ virtual int m(int); }; __device__ int N::m(int x) { return x; } __global__ void K(N* p) { new (p) N; }",
        "user": "struct N { __device__ virtual int m(int); }; __global__ void K(N* p) { new (p) N; }",
        "caller": "struct N { __device__ virtual int m(int); }; __global__ void K(N* p, int* q) { *q = p->m(*q); }",
        "templates": "template <class T> struct N { __device__ virtual T m(T x) { static T v; return v += x; } }; __global__ void K(N<int>* p) { new (p) N<int>; }",
    },
    "template": {
        "function": "template <class T> __device__ __noinline__ T N(T x) { static __device__ T v; return v += x; } __global__ void K(int* p) { *p = N(*p); }",
        "variable": "template <class T> __device__ T N = 1; __global__ void K(int* p) { *p = N<int>; }",
        "declared": "template <class T> __device__ T N(T); __global__ void K(int* p) { *p = N(*p); }",
        "instance": "template <class T> __device__ __noinline__ T N(T x) { return x; } template __device__ int N(int);",
    },
    "run-time": {
        "printf": '__global__ void K(int* p) { printf("%d", *p); }',
        "assert": "__global__ void K(int* p) { assert(*p); }",
        "malloc": "__global__ void K(int* p) { int* q = (int*)malloc(4); *q = 1; *p = *q; free(q); }",
        "new": "__global__ void K(int* p) { int* q = new int; *p = *q; delete q; }",
    },
}
HEAD = "#include <cassert>\n#include <cstdio>\n#include <new>\n"


def source(says, own):
    """The text of an object that `says` [(name, sort, kind)]; `own`: a word that no other object has."""
    return HEAD + "\n".join(SORTS[sort][kind].replace("N", name).replace("K", f"k_{own}_{name}") for name, sort, kind in says)


def random_link(seed):
    """({object: source}, the words of the line, {archive: members})."""
    rng = random.Random(seed)
    sorts = {name: rng.choice([*SORTS, "variable", "shared", "shared", "function"]) for name in ("n0", "n1")}
    objects = {}
    for i in range(rng.randint(2, 4)):
        names = rng.sample(sorted(sorts), rng.choice((1, 1, 2)))
        objects[f"o{i}"] = source([(name, sorts[name], rng.choice(sorted(SORTS[sorts[name]]))) for name in names], f"o{i}")
    words = list(objects)
    rng.shuffle(words)
    members = words[1:] if len(words) > 2 and rng.random() < 0.3 else []
    line = [f"{word}.o" for word in words if word not in members]
    if members:
        line.insert(rng.randint(0, len(line)), "liba.a")
    return objects, line, {"liba.a": [f"{m}.o" for m in members]} if members else {}

