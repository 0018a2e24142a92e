#pragma once
template <class T>
const char* name_of() {
  return "unknown";
}
template <>
const char* name_of<float>() {
  return "float";
}
