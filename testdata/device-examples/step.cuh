#pragma once
__device__ int step;
