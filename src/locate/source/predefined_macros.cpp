// Written by scripts/predefined-macros: the macros that gcc 12 and clang 14 define on their own.

#include "locate/source/predefined.hpp"

namespace elfaudit::source {

// clang-format off
const std::string_view kPredefinedTable = R"table(
@every
_LP64 1; __ATOMIC_ACQUIRE 2; __ATOMIC_ACQ_REL 4; __ATOMIC_CONSUME 1; __ATOMIC_RELAXED 0; __ATOMIC_RELEASE 3;
__ATOMIC_SEQ_CST 5; __BIGGEST_ALIGNMENT__ 16; __BYTE_ORDER__ __ORDER_LITTLE_ENDIAN__; __CHAR32_TYPE__ unsigned int;
__CHAR_BIT__ 8; __DBL_DECIMAL_DIG__ 17; __DBL_DIG__ 15; __DBL_HAS_DENORM__ 1; __DBL_HAS_INFINITY__ 1;
__DBL_HAS_QUIET_NAN__ 1; __DBL_MANT_DIG__ 53; __DBL_MAX_10_EXP__ 308; __DBL_MAX_EXP__ 1024; __DBL_MIN_10_EXP__ (-307);
__DBL_MIN_EXP__ (-1021); __ELF__ 1; __FINITE_MATH_ONLY__ 0; __FLT_DECIMAL_DIG__ 9; __FLT_DIG__ 6; __FLT_EVAL_METHOD__ 0;
__FLT_HAS_DENORM__ 1; __FLT_HAS_INFINITY__ 1; __FLT_HAS_QUIET_NAN__ 1; __FLT_MANT_DIG__ 24; __FLT_MAX_10_EXP__ 38;
__FLT_MAX_EXP__ 128; __FLT_MIN_10_EXP__ (-37); __FLT_MIN_EXP__ (-125); __FLT_RADIX__ 2; __FXSR__ 1;
__GCC_ASM_FLAG_OUTPUTS__ 1; __GCC_ATOMIC_BOOL_LOCK_FREE 2; __GCC_ATOMIC_CHAR16_T_LOCK_FREE 2;
__GCC_ATOMIC_CHAR32_T_LOCK_FREE 2; __GCC_ATOMIC_CHAR_LOCK_FREE 2; __GCC_ATOMIC_INT_LOCK_FREE 2;
__GCC_ATOMIC_LLONG_LOCK_FREE 2; __GCC_ATOMIC_LONG_LOCK_FREE 2; __GCC_ATOMIC_POINTER_LOCK_FREE 2;
__GCC_ATOMIC_SHORT_LOCK_FREE 2; __GCC_ATOMIC_TEST_AND_SET_TRUEVAL 1; __GCC_ATOMIC_WCHAR_T_LOCK_FREE 2;
__GCC_HAVE_SYNC_COMPARE_AND_SWAP_1 1; __GCC_HAVE_SYNC_COMPARE_AND_SWAP_2 1; __GCC_HAVE_SYNC_COMPARE_AND_SWAP_4 1;
__GCC_HAVE_SYNC_COMPARE_AND_SWAP_8 1; __INT32_TYPE__ int; __INT64_TYPE__ long int; __INT8_TYPE__ signed char;
__INTMAX_TYPE__ long int; __INTMAX_WIDTH__ 64; __INTPTR_TYPE__ long int; __INTPTR_WIDTH__ 64;
__INT_FAST64_TYPE__ long int; __INT_FAST64_WIDTH__ 64; __INT_FAST8_TYPE__ signed char; __INT_FAST8_WIDTH__ 8;
__INT_LEAST16_WIDTH__ 16; __INT_LEAST32_TYPE__ int; __INT_LEAST32_WIDTH__ 32; __INT_LEAST64_TYPE__ long int;
__INT_LEAST64_WIDTH__ 64; __INT_LEAST8_TYPE__ signed char; __INT_LEAST8_WIDTH__ 8; __INT_WIDTH__ 32;
__LDBL_DECIMAL_DIG__ 21; __LDBL_DIG__ 18; __LDBL_HAS_DENORM__ 1; __LDBL_HAS_INFINITY__ 1; __LDBL_HAS_QUIET_NAN__ 1;
__LDBL_MANT_DIG__ 64; __LDBL_MAX_10_EXP__ 4932; __LDBL_MAX_EXP__ 16384; __LDBL_MIN_10_EXP__ (-4931);
__LDBL_MIN_EXP__ (-16381); __LONG_WIDTH__ 64; __LP64__ 1; __MMX__ 1; __ORDER_BIG_ENDIAN__ 4321;
__ORDER_LITTLE_ENDIAN__ 1234; __ORDER_PDP_ENDIAN__ 3412; __PRAGMA_REDEFINE_EXTNAME 1; __PTRDIFF_TYPE__ long int;
__PTRDIFF_WIDTH__ 64; __REGISTER_PREFIX__; __SEG_FS 1; __SEG_GS 1; __SHRT_WIDTH__ 16; __SIG_ATOMIC_WIDTH__ 32;
__SIZEOF_DOUBLE__ 8; __SIZEOF_FLOAT128__ 16; __SIZEOF_FLOAT__ 4; __SIZEOF_INT128__ 16; __SIZEOF_INT__ 4;
__SIZEOF_LONG_DOUBLE__ 16; __SIZEOF_LONG_LONG__ 8; __SIZEOF_LONG__ 8; __SIZEOF_POINTER__ 8; __SIZEOF_PTRDIFF_T__ 8;
__SIZEOF_SHORT__ 2; __SIZEOF_SIZE_T__ 8; __SIZEOF_WCHAR_T__ 4; __SIZEOF_WINT_T__ 4; __SIZE_TYPE__ long unsigned int;
__SIZE_WIDTH__ 64; __SSE2_MATH__ 1; __SSE2__ 1; __SSE_MATH__ 1; __SSE__ 1; __STDC_HOSTED__ 1; __STDC__ 1;
__UINT32_TYPE__ unsigned int; __UINT64_TYPE__ long unsigned int; __UINT8_TYPE__ unsigned char;
__UINTMAX_TYPE__ long unsigned int; __UINTPTR_TYPE__ long unsigned int; __UINT_FAST64_TYPE__ long unsigned int;
__UINT_FAST8_TYPE__ unsigned char; __UINT_LEAST32_TYPE__ unsigned int; __UINT_LEAST64_TYPE__ long unsigned int;
__UINT_LEAST8_TYPE__ unsigned char; __USER_LABEL_PREFIX__; __WCHAR_TYPE__ int; __WCHAR_WIDTH__ 32;
__WINT_TYPE__ unsigned int; __WINT_WIDTH__ 32; __amd64 1; __amd64__ 1; __code_model_small__ 1; __gnu_linux__ 1; __k8 1;
__k8__ 1; __linux 1; __linux__ 1; __unix 1; __unix__ 1; __x86_64 1; __x86_64__ 1
@gcc
__ATOMIC_HLE_ACQUIRE 65536; __ATOMIC_HLE_RELEASE 131072; __CHAR16_TYPE__ short unsigned int; __DBL_IS_IEC_60559__ 2;
__DECIMAL_BID_FORMAT__ 1; __DECIMAL_DIG__ 21; __DEC_EVAL_METHOD__ 2; __FLOAT_WORD_ORDER__ __ORDER_LITTLE_ENDIAN__;
__FLT_EVAL_METHOD_TS_18661_3__ 0; __FLT_IS_IEC_60559__ 2; __GCC_CONSTRUCTIVE_SIZE 64; __GCC_DESTRUCTIVE_SIZE 64;
__GCC_IEC_559 2; __GCC_IEC_559_COMPLEX 2; __GXX_ABI_VERSION 1017; __HAVE_SPECULATION_SAFE_VALUE 1; __INT16_MAX__ 0x7fff;
__INT16_TYPE__ short int; __INT32_MAX__ 0x7fffffff; __INT64_MAX__ 0x7fffffffffffffffL; __INT8_MAX__ 0x7f;
__INTMAX_MAX__ 0x7fffffffffffffffL; __INTPTR_MAX__ 0x7fffffffffffffffL; __INT_FAST16_MAX__ 0x7fffffffffffffffL;
__INT_FAST16_TYPE__ long int; __INT_FAST16_WIDTH__ 64; __INT_FAST32_MAX__ 0x7fffffffffffffffL;
__INT_FAST32_TYPE__ long int; __INT_FAST32_WIDTH__ 64; __INT_FAST64_MAX__ 0x7fffffffffffffffL; __INT_FAST8_MAX__ 0x7f;
__INT_LEAST16_MAX__ 0x7fff; __INT_LEAST16_TYPE__ short int; __INT_LEAST32_MAX__ 0x7fffffff;
__INT_LEAST64_MAX__ 0x7fffffffffffffffL; __INT_LEAST8_MAX__ 0x7f; __INT_MAX__ 0x7fffffff; __LDBL_IS_IEC_60559__ 2;
__LONG_LONG_MAX__ 0x7fffffffffffffffLL; __LONG_LONG_WIDTH__ 64; __LONG_MAX__ 0x7fffffffffffffffL; __MMX_WITH_SSE__ 1;
__PTRDIFF_MAX__ 0x7fffffffffffffffL; __SCHAR_MAX__ 0x7f; __SCHAR_WIDTH__ 8; __SHRT_MAX__ 0x7fff;
__SIG_ATOMIC_MAX__ 0x7fffffff; __SIG_ATOMIC_MIN__ (-__SIG_ATOMIC_MAX__ - 1); __SIG_ATOMIC_TYPE__ int;
__SIZEOF_FLOAT80__ 16; __SIZE_MAX__ 0xffffffffffffffffUL; __UINT16_MAX__ 0xffff; __UINT16_TYPE__ short unsigned int;
__UINT32_MAX__ 0xffffffffU; __UINT64_MAX__ 0xffffffffffffffffUL; __UINT8_MAX__ 0xff;
__UINTMAX_MAX__ 0xffffffffffffffffUL; __UINTPTR_MAX__ 0xffffffffffffffffUL; __UINT_FAST16_MAX__ 0xffffffffffffffffUL;
__UINT_FAST16_TYPE__ long unsigned int; __UINT_FAST32_MAX__ 0xffffffffffffffffUL;
__UINT_FAST32_TYPE__ long unsigned int; __UINT_FAST64_MAX__ 0xffffffffffffffffUL; __UINT_FAST8_MAX__ 0xff;
__UINT_LEAST16_MAX__ 0xffff; __UINT_LEAST16_TYPE__ short unsigned int; __UINT_LEAST32_MAX__ 0xffffffffU;
__UINT_LEAST64_MAX__ 0xffffffffffffffffUL; __UINT_LEAST8_MAX__ 0xff; __WCHAR_MAX__ 0x7fffffff;
__WCHAR_MIN__ (-__WCHAR_MAX__ - 1); __WINT_MAX__ 0xffffffffU; __WINT_MIN__ 0U
@gcc c++
_GNU_SOURCE 1; __DEPRECATED 1; __EXCEPTIONS 1; __GXX_RTTI 1; __GXX_WEAK__ 1; __cpp_binary_literals 201304L;
__cpp_exceptions 199711L; __cpp_hex_float 201603L; __cpp_rtti 199711L; __cpp_runtime_arrays 198712L;
__cpp_threadsafe_static_init 200806L
@gcc c++ 98
__GNUC_GNU_INLINE__ 1; __cplusplus 199711L
@gcc c++ 11
__GNUC_STDC_INLINE__ 1; __GXX_EXPERIMENTAL_CXX0X__ 1; __STDCPP_THREADS__ 1; __STDC_UTF_16__ 1; __STDC_UTF_32__ 1;
__cplusplus 201103L; __cpp_alias_templates 200704L; __cpp_attributes 200809L; __cpp_constexpr 200704L;
__cpp_decltype 200707L; __cpp_delegating_constructors 200604L; __cpp_inheriting_constructors 201511L;
__cpp_initializer_lists 200806L; __cpp_lambdas 200907L; __cpp_nsdmi 200809L; __cpp_range_based_for 200907L;
__cpp_raw_strings 200710L; __cpp_ref_qualifiers 200710L; __cpp_rvalue_reference 200610L;
__cpp_rvalue_references 200610L; __cpp_static_assert 200410L; __cpp_unicode_characters 200704L;
__cpp_unicode_literals 200710L; __cpp_user_defined_literals 200809L; __cpp_variadic_templates 200704L;
-__GNUC_GNU_INLINE__
@gcc c++ 14
__cplusplus 201402L; __cpp_aggregate_nsdmi 201304L; __cpp_constexpr 201304L; __cpp_decltype_auto 201304L;
__cpp_digit_separators 201309L; __cpp_generic_lambdas 201304L; __cpp_init_captures 201304L;
__cpp_return_type_deduction 201304L; __cpp_sized_deallocation 201309L; __cpp_variable_templates 201304L
@gcc c++ 17
__STDCPP_DEFAULT_NEW_ALIGNMENT__ 16; __cplusplus 201703L; __cpp_aggregate_bases 201603L; __cpp_aligned_new 201606L;
__cpp_capture_star_this 201603L; __cpp_constexpr 201603L; __cpp_deduction_guides 201703L;
__cpp_enumerator_attributes 201411L; __cpp_fold_expressions 201603L; __cpp_guaranteed_copy_elision 201606L;
__cpp_if_constexpr 201606L; __cpp_inline_variables 201606L; __cpp_namespace_attributes 201411L;
__cpp_nested_namespace_definitions 201411L; __cpp_noexcept_function_type 201510L; __cpp_nontype_template_args 201411L;
__cpp_nontype_template_parameter_auto 201606L; __cpp_range_based_for 201603L; __cpp_static_assert 201411L;
__cpp_structured_bindings 201606L; __cpp_template_auto 201606L; __cpp_template_template_args 201611L;
__cpp_unicode_characters 201411L; __cpp_variadic_using 201611L
@gcc c++ 20
__CHAR8_TYPE__ unsigned char; __GCC_ATOMIC_CHAR8_T_LOCK_FREE 2; __cplusplus 202002L; __cpp_aggregate_paren_init 201902L;
__cpp_char8_t 201811L; __cpp_concepts 202002L; __cpp_conditional_explicit 201806L; __cpp_consteval 201811L;
__cpp_constexpr 202002L; __cpp_constexpr_dynamic_alloc 201907L; __cpp_constexpr_in_decltype 201711L;
__cpp_constinit 201907L; __cpp_deduction_guides 201907L; __cpp_designated_initializers 201707L;
__cpp_generic_lambdas 201707L; __cpp_impl_coroutine 201902L; __cpp_impl_destroying_delete 201806L;
__cpp_impl_three_way_comparison 201907L; __cpp_init_captures 201803L; __cpp_nontype_template_args 201911L;
__cpp_nontype_template_parameter_class 201806L; __cpp_using_enum 201907L
@gcc c++ 23
__cplusplus 202100L; __cpp_constexpr 202110L; __cpp_if_consteval 202106L; __cpp_multidimensional_subscript 202110L;
__cpp_size_t_suffix 202011L
@gcc c
@gcc c 89
__GNUC_GNU_INLINE__ 1
@gcc c 99
__GNUC_STDC_INLINE__ 1; __STDC_UTF_16__ 1; __STDC_UTF_32__ 1; __STDC_VERSION__ 199901L; -__GNUC_GNU_INLINE__
@gcc c 11
__STDC_VERSION__ 201112L
@gcc c 17
__STDC_VERSION__ 201710L
@gcc c 23
__STDC_VERSION__ 202000L
@clang
__BITINT_MAXWIDTH__ 128; __BOOL_WIDTH__ 8; __CHAR16_TYPE__ unsigned short; __CLANG_ATOMIC_BOOL_LOCK_FREE 2;
__CLANG_ATOMIC_CHAR16_T_LOCK_FREE 2; __CLANG_ATOMIC_CHAR32_T_LOCK_FREE 2; __CLANG_ATOMIC_CHAR_LOCK_FREE 2;
__CLANG_ATOMIC_INT_LOCK_FREE 2; __CLANG_ATOMIC_LLONG_LOCK_FREE 2; __CLANG_ATOMIC_LONG_LOCK_FREE 2;
__CLANG_ATOMIC_POINTER_LOCK_FREE 2; __CLANG_ATOMIC_SHORT_LOCK_FREE 2; __CLANG_ATOMIC_WCHAR_T_LOCK_FREE 2;
__CONSTANT_CFSTRINGS__ 1; __DECIMAL_DIG__ __LDBL_DECIMAL_DIG__; __FLOAT128__ 1; __GXX_ABI_VERSION 1002;
__INT16_C_SUFFIX__; __INT16_MAX__ 32767; __INT16_TYPE__ short; __INT32_C_SUFFIX__; __INT32_MAX__ 2147483647;
__INT64_C_SUFFIX__ L; __INT64_MAX__ 9223372036854775807L; __INT8_C_SUFFIX__; __INT8_MAX__ 127; __INTMAX_C_SUFFIX__ L;
__INTMAX_MAX__ 9223372036854775807L; __INTPTR_MAX__ 9223372036854775807L; __INT_FAST16_MAX__ 32767;
__INT_FAST16_TYPE__ short; __INT_FAST16_WIDTH__ 16; __INT_FAST32_MAX__ 2147483647; __INT_FAST32_TYPE__ int;
__INT_FAST32_WIDTH__ 32; __INT_FAST64_MAX__ 9223372036854775807L; __INT_FAST8_MAX__ 127; __INT_LEAST16_MAX__ 32767;
__INT_LEAST16_TYPE__ short; __INT_LEAST32_MAX__ 2147483647; __INT_LEAST64_MAX__ 9223372036854775807L;
__INT_LEAST8_MAX__ 127; __INT_MAX__ 2147483647; __LITTLE_ENDIAN__ 1; __LLONG_WIDTH__ 64;
__LONG_LONG_MAX__ 9223372036854775807LL; __LONG_MAX__ 9223372036854775807L; __NO_MATH_INLINES 1; __OBJC_BOOL_IS_BOOL 0;
__OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES 3; __OPENCL_MEMORY_SCOPE_DEVICE 2; __OPENCL_MEMORY_SCOPE_SUB_GROUP 4;
__OPENCL_MEMORY_SCOPE_WORK_GROUP 1; __OPENCL_MEMORY_SCOPE_WORK_ITEM 0; __POINTER_WIDTH__ 64;
__PTRDIFF_MAX__ 9223372036854775807L; __SCHAR_MAX__ 127; __SHRT_MAX__ 32767; __SIG_ATOMIC_MAX__ 2147483647;
__SIZE_MAX__ 18446744073709551615UL; __STDC_UTF_16__ 1; __STDC_UTF_32__ 1; __UINT16_C_SUFFIX__; __UINT16_MAX__ 65535;
__UINT16_TYPE__ unsigned short; __UINT32_C_SUFFIX__ U; __UINT32_MAX__ 4294967295U; __UINT64_C_SUFFIX__ UL;
__UINT64_MAX__ 18446744073709551615UL; __UINT8_C_SUFFIX__; __UINT8_MAX__ 255; __UINTMAX_C_SUFFIX__ UL;
__UINTMAX_MAX__ 18446744073709551615UL; __UINTMAX_WIDTH__ 64; __UINTPTR_MAX__ 18446744073709551615UL;
__UINTPTR_WIDTH__ 64; __UINT_FAST16_MAX__ 65535; __UINT_FAST16_TYPE__ unsigned short; __UINT_FAST32_MAX__ 4294967295U;
__UINT_FAST32_TYPE__ unsigned int; __UINT_FAST64_MAX__ 18446744073709551615UL; __UINT_FAST8_MAX__ 255;
__UINT_LEAST16_MAX__ 65535; __UINT_LEAST16_TYPE__ unsigned short; __UINT_LEAST32_MAX__ 4294967295U;
__UINT_LEAST64_MAX__ 18446744073709551615UL; __UINT_LEAST8_MAX__ 255; __WCHAR_MAX__ 2147483647;
__WINT_MAX__ 4294967295U; __WINT_UNSIGNED__ 1; __clang__ 1; __llvm__ 1; __seg_fs __attribute__((address_space(257)));
__seg_gs __attribute__((address_space(256))); __tune_k8__ 1
@clang c++
_GNU_SOURCE 1; __DEPRECATED 1; __EXCEPTIONS 1; __GNUC_GNU_INLINE__ 1; __GXX_RTTI 1; __GXX_WEAK__ 1;
__STDCPP_DEFAULT_NEW_ALIGNMENT__ 16UL; __STDCPP_THREADS__ 1; __cpp_exceptions 199711L;
__cpp_impl_destroying_delete 201806L; __cpp_rtti 199711L; __cpp_threadsafe_static_init 200806L;
__private_extern__ extern
@clang c++ 98
__cplusplus 199711L
@clang c++ 11
__GXX_EXPERIMENTAL_CXX0X__ 1; __cplusplus 201103L; __cpp_alias_templates 200704L; __cpp_attributes 200809L;
__cpp_constexpr 200704; __cpp_constexpr_in_decltype 201711L; __cpp_decltype 200707L;
__cpp_delegating_constructors 200604L; __cpp_inheriting_constructors 201511L; __cpp_initializer_lists 200806L;
__cpp_lambdas 200907L; __cpp_nsdmi 200809L; __cpp_range_based_for 200907; __cpp_raw_strings 200710L;
__cpp_ref_qualifiers 200710L; __cpp_rvalue_references 200610L; __cpp_static_assert 200410;
__cpp_unicode_characters 200704L; __cpp_unicode_literals 200710L; __cpp_user_defined_literals 200809L;
__cpp_variadic_templates 200704L
@clang c++ 14
__cplusplus 201402L; __cpp_aggregate_nsdmi 201304L; __cpp_binary_literals 201304L; __cpp_constexpr 201304L;
__cpp_decltype_auto 201304L; __cpp_digit_separators 201309L; __cpp_generic_lambdas 201304L; __cpp_init_captures 201304L;
__cpp_return_type_deduction 201304L; __cpp_variable_templates 201304L
@clang c++ 17
__cplusplus 201703L; __cpp_aggregate_bases 201603L; __cpp_aligned_new 201606L; __cpp_capture_star_this 201603L;
__cpp_constexpr 201603L; __cpp_deduction_guides 201703L; __cpp_enumerator_attributes 201411L;
__cpp_fold_expressions 201603L; __cpp_guaranteed_copy_elision 201606L; __cpp_hex_float 201603L;
__cpp_if_constexpr 201606L; __cpp_inline_variables 201606L; __cpp_namespace_attributes 201411L;
__cpp_nested_namespace_definitions 201411L; __cpp_noexcept_function_type 201510L; __cpp_nontype_template_args 201411L;
__cpp_nontype_template_parameter_auto 201606L; __cpp_range_based_for 201603L; __cpp_static_assert 201411L;
__cpp_structured_bindings 201606L; __cpp_template_auto 201606L; __cpp_variadic_using 201611L
@clang c++ 20
__CLANG_ATOMIC_CHAR8_T_LOCK_FREE 2; __GCC_ATOMIC_CHAR8_T_LOCK_FREE 2; __cplusplus 202002L; __cpp_char8_t 201811L;
__cpp_concepts 201907L; __cpp_conditional_explicit 201806L; __cpp_constexpr 201907L;
__cpp_constexpr_dynamic_alloc 201907L; __cpp_constinit 201907L; __cpp_coroutines 201703L;
__cpp_designated_initializers 201707L; __cpp_generic_lambdas 201707L; __cpp_impl_coroutine 201902L;
__cpp_impl_three_way_comparison 201907L; __cpp_init_captures 201803L; __cpp_using_enum 201907L
@clang c++ 23
__cplusplus 202101L; __cpp_if_consteval 202106L; __cpp_implicit_move 202011L; __cpp_size_t_suffix 202011L
@clang c
@clang c 89
__GNUC_GNU_INLINE__ 1
@clang c 99
__GNUC_STDC_INLINE__ 1; __STDC_VERSION__ 199901L; -__GNUC_GNU_INLINE__
@clang c 11
__STDC_VERSION__ 201112L
@clang c 17
__STDC_VERSION__ 201710L
@clang c 23
__STDC_VERSION__ 202000L
@like
arm-linux-gnueabihf i386-linux-gnu; powerpc64-linux-gnu powerpc64le-linux-gnu
@gcc i386-linux-gnu
_ILP32 1; -_LP64; __FLT_EVAL_METHOD_TS_18661_3__ 2; __FLT_EVAL_METHOD__ 2; -__FXSR__; __ILP32__ 1;
__INT64_MAX__ 0x7fffffffffffffffLL; __INT64_TYPE__ long long int; __INTMAX_MAX__ 0x7fffffffffffffffLL;
__INTMAX_TYPE__ long long int; __INTPTR_MAX__ 0x7fffffff; __INTPTR_TYPE__ int; __INTPTR_WIDTH__ 32;
__INT_FAST16_MAX__ 0x7fffffff; __INT_FAST16_TYPE__ int; __INT_FAST16_WIDTH__ 32; __INT_FAST32_MAX__ 0x7fffffff;
__INT_FAST32_TYPE__ int; __INT_FAST32_WIDTH__ 32; __INT_FAST64_MAX__ 0x7fffffffffffffffLL;
__INT_FAST64_TYPE__ long long int; __INT_LEAST64_MAX__ 0x7fffffffffffffffLL; __INT_LEAST64_TYPE__ long long int;
__LAHF_SAHF__ 1; __LONG_MAX__ 0x7fffffffL; __LONG_WIDTH__ 32; -__LP64__; -__MMX_WITH_SSE__; -__MMX__;
__PTRDIFF_MAX__ 0x7fffffff; __PTRDIFF_TYPE__ int; __PTRDIFF_WIDTH__ 32; __SIZEOF_FLOAT80__ 12; -__SIZEOF_INT128__;
__SIZEOF_LONG_DOUBLE__ 12; __SIZEOF_LONG__ 4; __SIZEOF_POINTER__ 4; __SIZEOF_PTRDIFF_T__ 4; __SIZEOF_SIZE_T__ 4;
__SIZE_MAX__ 0xffffffffU; __SIZE_TYPE__ unsigned int; __SIZE_WIDTH__ 32; -__SSE2_MATH__; -__SSE2__; -__SSE_MATH__;
-__SSE__; __UINT64_MAX__ 0xffffffffffffffffULL; __UINT64_TYPE__ long long unsigned int;
__UINTMAX_MAX__ 0xffffffffffffffffULL; __UINTMAX_TYPE__ long long unsigned int; __UINTPTR_MAX__ 0xffffffffU;
__UINTPTR_TYPE__ unsigned int; __UINT_FAST16_MAX__ 0xffffffffU; __UINT_FAST16_TYPE__ unsigned int;
__UINT_FAST32_MAX__ 0xffffffffU; __UINT_FAST32_TYPE__ unsigned int; __UINT_FAST64_MAX__ 0xffffffffffffffffULL;
__UINT_FAST64_TYPE__ long long unsigned int; __UINT_LEAST64_MAX__ 0xffffffffffffffffULL;
__UINT_LEAST64_TYPE__ long long unsigned int; __WCHAR_MAX__ 0x7fffffffL; __WCHAR_TYPE__ long int; -__amd64; -__amd64__;
__code_model_32__ 1; -__code_model_small__; __i386 1; __i386__ 1; __i686 1; __i686__ 1; -__k8; -__k8__; __pentiumpro 1;
__pentiumpro__ 1; -__x86_64; -__x86_64__; i386 1
@clang i386-linux-gnu
_ILP32 1; -_LP64; __CLANG_ATOMIC_LLONG_LOCK_FREE 1; __FLT_EVAL_METHOD__ 2; -__FXSR__; __GCC_ATOMIC_LLONG_LOCK_FREE 1;
__ILP32__ 1; __INT64_C_SUFFIX__ LL; __INT64_MAX__ 9223372036854775807LL; __INT64_TYPE__ long long int;
__INTMAX_C_SUFFIX__ LL; __INTMAX_MAX__ 9223372036854775807LL; __INTMAX_TYPE__ long long int; __INTPTR_MAX__ 2147483647;
__INTPTR_TYPE__ int; __INTPTR_WIDTH__ 32; __INT_FAST64_MAX__ 9223372036854775807LL; __INT_FAST64_TYPE__ long long int;
__INT_LEAST64_MAX__ 9223372036854775807LL; __INT_LEAST64_TYPE__ long long int; __LAHF_SAHF__ 1;
__LONG_MAX__ 2147483647L; __LONG_WIDTH__ 32; -__LP64__; -__MMX__; __POINTER_WIDTH__ 32; __PTRDIFF_MAX__ 2147483647;
__PTRDIFF_TYPE__ int; __PTRDIFF_WIDTH__ 32; -__SIZEOF_INT128__; __SIZEOF_LONG_DOUBLE__ 12; __SIZEOF_LONG__ 4;
__SIZEOF_POINTER__ 4; __SIZEOF_PTRDIFF_T__ 4; __SIZEOF_SIZE_T__ 4; __SIZE_MAX__ 4294967295U; __SIZE_TYPE__ unsigned int;
__SIZE_WIDTH__ 32; -__SSE2_MATH__; -__SSE2__; -__SSE_MATH__; -__SSE__; =__STDCPP_DEFAULT_NEW_ALIGNMENT__ 8U;
__UINT64_C_SUFFIX__ ULL; __UINT64_MAX__ 18446744073709551615ULL; __UINT64_TYPE__ long long unsigned int;
__UINTMAX_C_SUFFIX__ ULL; __UINTMAX_MAX__ 18446744073709551615ULL; __UINTMAX_TYPE__ long long unsigned int;
__UINTPTR_MAX__ 4294967295U; __UINTPTR_TYPE__ unsigned int; __UINTPTR_WIDTH__ 32;
__UINT_FAST64_MAX__ 18446744073709551615ULL; __UINT_FAST64_TYPE__ long long unsigned int;
__UINT_LEAST64_MAX__ 18446744073709551615ULL; __UINT_LEAST64_TYPE__ long long unsigned int; -__amd64; -__amd64__;
__i386 1; __i386__ 1; __i686 1; __i686__ 1; -__k8; -__k8__; __pentiumpro 1; __pentiumpro__ 1; __tune_i686__ 1;
-__tune_k8__; __tune_pentiumpro__ 1; -__x86_64; -__x86_64__; i386 1
@gcc aarch64-linux-gnu
__AARCH64EL__ 1; __AARCH64_CMODEL_SMALL__ 1; __ARM_64BIT_STATE 1; __ARM_ALIGN_MAX_PWR 28; __ARM_ALIGN_MAX_STACK_PWR 16;
__ARM_ARCH 8; __ARM_ARCH_8A 1; __ARM_ARCH_ISA_A64 1; __ARM_ARCH_PROFILE 65; __ARM_FEATURE_CLZ 1; __ARM_FEATURE_FMA 1;
__ARM_FEATURE_IDIV 1; __ARM_FEATURE_NUMERIC_MAXMIN 1; __ARM_FEATURE_UNALIGNED 1; __ARM_FP 14; __ARM_FP16_ARGS 1;
__ARM_FP16_FORMAT_IEEE 1; __ARM_NEON 1; __ARM_PCS_AAPCS64 1; __ARM_SIZEOF_MINIMAL_ENUM 4; __ARM_SIZEOF_WCHAR_T 4;
-__ATOMIC_HLE_ACQUIRE; -__ATOMIC_HLE_RELEASE; __CHAR_UNSIGNED__ 1; -__DECIMAL_BID_FORMAT__; __DECIMAL_DIG__ 36;
__FLT_EVAL_METHOD_C99__ 0; __FP_FAST_FMA 1; __FP_FAST_FMAF 1; __FP_FAST_FMAF32 1; __FP_FAST_FMAF32x 1;
__FP_FAST_FMAF64 1; -__FXSR__; __GCC_DESTRUCTIVE_SIZE 256; __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16 1;
__LDBL_DECIMAL_DIG__ 36; __LDBL_DIG__ 33; __LDBL_MANT_DIG__ 113; -__MMX_WITH_SSE__; -__MMX__; -__SEG_FS; -__SEG_GS;
-__SIZEOF_FLOAT128__; -__SIZEOF_FLOAT80__; -__SSE2_MATH__; -__SSE2__; -__SSE_MATH__; -__SSE__;
__WCHAR_MAX__ 0xffffffffU; __WCHAR_MIN__ 0U; __WCHAR_TYPE__ unsigned int; -__WCHAR_UNSIGNED__; __aarch64__ 1; -__amd64;
-__amd64__; -__code_model_small__; -__k8; -__k8__; -__x86_64; -__x86_64__
@gcc c++ aarch64-linux-gnu
__WCHAR_UNSIGNED__ 1
@clang aarch64-linux-gnu
__AARCH64EL__ 1; __AARCH64_CMODEL_SMALL__ 1; __ARM_64BIT_STATE 1; __ARM_ACLE 200; __ARM_ALIGN_MAX_STACK_PWR 4;
__ARM_ARCH 8; __ARM_ARCH_ISA_A64 1; __ARM_ARCH_PROFILE 'A'; __ARM_FEATURE_CLZ 1; __ARM_FEATURE_DIRECTED_ROUNDING 1;
__ARM_FEATURE_DIV 1; __ARM_FEATURE_FMA 1; __ARM_FEATURE_IDIV 1; __ARM_FEATURE_LDREX 0xF; __ARM_FEATURE_NUMERIC_MAXMIN 1;
__ARM_FEATURE_UNALIGNED 1; __ARM_FP 0xE; __ARM_FP16_ARGS 1; __ARM_FP16_FORMAT_IEEE 1; __ARM_NEON 1; __ARM_NEON_FP 0xE;
__ARM_PCS_AAPCS64 1; __ARM_SIZEOF_MINIMAL_ENUM 4; __ARM_SIZEOF_WCHAR_T 4; __CHAR_UNSIGNED__ 1; -__FLOAT128__; -__FXSR__;
-__GCC_ASM_FLAG_OUTPUTS__; __LDBL_DECIMAL_DIG__ 36; __LDBL_DIG__ 33; __LDBL_MANT_DIG__ 113; -__MMX__;
-__NO_MATH_INLINES; -__REGISTER_PREFIX__; -__SEG_FS; -__SEG_GS; -__SIZEOF_FLOAT128__; -__SSE2_MATH__; -__SSE2__;
-__SSE_MATH__; -__SSE__; __WCHAR_MAX__ 4294967295U; __WCHAR_TYPE__ unsigned int; __WCHAR_UNSIGNED__ 1; __aarch64__ 1;
-__amd64; -__amd64__; -__code_model_small__; -__k8; -__k8__; -__seg_fs; -__seg_gs; -__tune_k8__; -__x86_64; -__x86_64__
@gcc arm-linux-gnueabihf
-_ILP32; __APCS_32__ 1; __ARMEL__ 1; __ARM_32BIT_STATE 1; __ARM_ARCH 7; __ARM_ARCH_7A__ 1; __ARM_ARCH_ISA_ARM 1;
__ARM_ARCH_ISA_THUMB 2; __ARM_ARCH_PROFILE 65; __ARM_ASM_SYNTAX_UNIFIED__ 1; __ARM_EABI__ 1; __ARM_FEATURE_CLZ 1;
__ARM_FEATURE_COPROC 15; __ARM_FEATURE_DSP 1; __ARM_FEATURE_LDREX 15; __ARM_FEATURE_QBIT 1; __ARM_FEATURE_SAT 1;
__ARM_FEATURE_SIMD32 1; __ARM_FEATURE_UNALIGNED 1; __ARM_FP 12; __ARM_PCS_VFP 1; __ARM_SIZEOF_MINIMAL_ENUM 4;
__ARM_SIZEOF_WCHAR_T 4; -__ATOMIC_HLE_ACQUIRE; -__ATOMIC_HLE_RELEASE; __BIGGEST_ALIGNMENT__ 8; __CHAR_UNSIGNED__ 1;
-__DECIMAL_BID_FORMAT__; __DECIMAL_DIG__ 17; __FLT_EVAL_METHOD_TS_18661_3__ 0; __FLT_EVAL_METHOD__ 0; -__ILP32__;
-__LAHF_SAHF__; __LDBL_DECIMAL_DIG__ 17; __LDBL_DIG__ 15; __LDBL_MANT_DIG__ 53; __LDBL_MAX_10_EXP__ 308;
__LDBL_MAX_EXP__ 1024; __LDBL_MIN_10_EXP__ (-307); __LDBL_MIN_EXP__ (-1021); -__SEG_FS; -__SEG_GS; -__SIZEOF_FLOAT128__;
-__SIZEOF_FLOAT80__; __SIZEOF_LONG_DOUBLE__ 8; =__STDCPP_DEFAULT_NEW_ALIGNMENT__ 8; __THUMBEL__ 1;
__THUMB_INTERWORK__ 1; __VFP_FP__ 1; __WCHAR_MAX__ 0xffffffffU; __WCHAR_MIN__ 0U; __WCHAR_TYPE__ unsigned int;
-__WCHAR_UNSIGNED__; __arm__ 1; -__code_model_32__; -__i386; -__i386__; -__i686; -__i686__; -__pentiumpro;
-__pentiumpro__; __thumb2__ 1; __thumb__ 1; -i386
@gcc c++ arm-linux-gnueabihf
__WCHAR_UNSIGNED__ 1
@clang arm-linux-gnueabihf
__APCS_32__ 1; __ARMEL__ 1; __ARM_32BIT_STATE 1; __ARM_ACLE 200; __ARM_ARCH 7; __ARM_ARCH_7A__ 1; __ARM_ARCH_ISA_ARM 1;
__ARM_ARCH_ISA_THUMB 2; __ARM_ARCH_PROFILE 'A'; __ARM_EABI__ 1; __ARM_FEATURE_CLZ 1; __ARM_FEATURE_DSP 1;
__ARM_FEATURE_LDREX 0xf; __ARM_FEATURE_QBIT 1; __ARM_FEATURE_SAT 1; __ARM_FEATURE_SIMD32 1; __ARM_FEATURE_UNALIGNED 1;
__ARM_FP 0xc; __ARM_FP16_ARGS 1; __ARM_FP16_FORMAT_IEEE 1; __ARM_PCS 1; __ARM_PCS_VFP 1; __ARM_SIZEOF_MINIMAL_ENUM 4;
__ARM_SIZEOF_WCHAR_T 4; __ARM_VFPV2__ 1; __ARM_VFPV3__ 1; __BIGGEST_ALIGNMENT__ 8; __CHAR_UNSIGNED__ 1;
__CLANG_ATOMIC_LLONG_LOCK_FREE 2; -__FLOAT128__; __FLT_EVAL_METHOD__ 0; -__GCC_ASM_FLAG_OUTPUTS__;
__GCC_ATOMIC_LLONG_LOCK_FREE 2; -__LAHF_SAHF__; __LDBL_DECIMAL_DIG__ 17; __LDBL_DIG__ 15; __LDBL_MANT_DIG__ 53;
__LDBL_MAX_10_EXP__ 308; __LDBL_MAX_EXP__ 1024; __LDBL_MIN_10_EXP__ (-307); __LDBL_MIN_EXP__ (-1021);
-__NO_MATH_INLINES; -__SEG_FS; -__SEG_GS; -__SIZEOF_FLOAT128__; __SIZEOF_LONG_DOUBLE__ 8; __THUMB_INTERWORK__ 1;
__VFP_FP__ 1; __WCHAR_MAX__ 4294967295U; __WCHAR_TYPE__ unsigned int; __WCHAR_UNSIGNED__ 1; __arm 1; __arm__ 1;
-__code_model_small__; -__i386; -__i386__; -__i686; -__i686__; -__pentiumpro; -__pentiumpro__; -__seg_fs; -__seg_gs;
-__tune_i686__; -__tune_pentiumpro__; -i386
@gcc riscv64-linux-gnu
-__ATOMIC_HLE_ACQUIRE; -__ATOMIC_HLE_RELEASE; __CHAR_UNSIGNED__ 1; -__DECIMAL_BID_FORMAT__; __DECIMAL_DIG__ 36;
__FP_FAST_FMA 1; __FP_FAST_FMAF 1; __FP_FAST_FMAF32 1; __FP_FAST_FMAF32x 1; __FP_FAST_FMAF64 1; -__FXSR__;
-__GCC_ASM_FLAG_OUTPUTS__; __GCC_ATOMIC_BOOL_LOCK_FREE 1; __GCC_ATOMIC_CHAR16_T_LOCK_FREE 1;
=__GCC_ATOMIC_CHAR8_T_LOCK_FREE 1; __GCC_ATOMIC_CHAR_LOCK_FREE 1; __GCC_ATOMIC_SHORT_LOCK_FREE 1;
-__GCC_CONSTRUCTIVE_SIZE; -__GCC_DESTRUCTIVE_SIZE; -__GCC_HAVE_SYNC_COMPARE_AND_SWAP_1;
-__GCC_HAVE_SYNC_COMPARE_AND_SWAP_2; -__HAVE_SPECULATION_SAFE_VALUE; __LDBL_DECIMAL_DIG__ 36; __LDBL_DIG__ 33;
__LDBL_MANT_DIG__ 113; -__MMX_WITH_SSE__; -__MMX__; -__SEG_FS; -__SEG_GS; -__SIZEOF_FLOAT128__; -__SIZEOF_FLOAT80__;
-__SSE2_MATH__; -__SSE2__; -__SSE_MATH__; -__SSE__; -__amd64; -__amd64__; -__code_model_small__; -__k8; -__k8__;
__riscv 1; __riscv_a 2001000; __riscv_arch_test 1; __riscv_atomic 1; __riscv_c 2000000; __riscv_cmodel_medany 1;
__riscv_cmodel_pic 1; __riscv_compressed 1; __riscv_d 2002000; __riscv_div 1; __riscv_f 2002000; __riscv_fdiv 1;
__riscv_flen 64; __riscv_float_abi_double 1; __riscv_fsqrt 1; __riscv_i 2001000; __riscv_m 2000000; __riscv_mul 1;
__riscv_muldiv 1; __riscv_xlen 64; __riscv_zicsr 2000000; __riscv_zifencei 2000000; -__x86_64; -__x86_64__
@gcc c++ riscv64-linux-gnu
__GCC_CONSTRUCTIVE_SIZE 32; __GCC_DESTRUCTIVE_SIZE 32
@clang riscv64-linux-gnu
__CHAR_UNSIGNED__ 1; -__FLOAT128__; -__FXSR__; -__GCC_ASM_FLAG_OUTPUTS__; __LDBL_DECIMAL_DIG__ 36; __LDBL_DIG__ 33;
__LDBL_MANT_DIG__ 113; -__MMX__; -__NO_MATH_INLINES; -__REGISTER_PREFIX__; -__SEG_FS; -__SEG_GS; -__SIZEOF_FLOAT128__;
-__SSE2_MATH__; -__SSE2__; -__SSE_MATH__; -__SSE__; -__amd64; -__amd64__; -__code_model_small__; -__k8; -__k8__;
__riscv 1; __riscv_a 2000000; __riscv_arch_test 1; __riscv_atomic 1; __riscv_c 2000000; __riscv_cmodel_medlow 1;
__riscv_compressed 1; __riscv_d 2000000; __riscv_div 1; __riscv_f 2000000; __riscv_fdiv 1; __riscv_flen 64;
__riscv_float_abi_double 1; __riscv_fsqrt 1; __riscv_i 2000000; __riscv_m 2000000; __riscv_mul 1; __riscv_muldiv 1;
__riscv_xlen 64; -__seg_fs; -__seg_gs; -__tune_k8__; -__x86_64; -__x86_64__
@gcc powerpc64le-linux-gnu
_ARCH_PPC 1; _ARCH_PPC64 1; _ARCH_PPCGR 1; _ARCH_PPCSQ 1; _ARCH_PWR4 1; _ARCH_PWR5 1; _ARCH_PWR5X 1; _ARCH_PWR6 1;
_ARCH_PWR7 1; _ARCH_PWR8 1; _Bool _Bool; _CALL_ELF 2; _CALL_LINUX 1; _LITTLE_ENDIAN 1; __ALTIVEC__ 1;
__APPLE_ALTIVEC__ 1; -__ATOMIC_HLE_ACQUIRE; -__ATOMIC_HLE_RELEASE; __BUILTIN_CPU_SUPPORTS__ 1; __CHAR_UNSIGNED__ 1;
__CMODEL_MEDIUM__ 1; __CRYPTO__ 1; -__DECIMAL_BID_FORMAT__; __DECIMAL_DIG__ 33; __FLOAT128_TYPE__ 1; __FLOAT128__ 1;
__FP_FAST_FMA 1; __FP_FAST_FMAF 1; __FP_FAST_FMAF32 1; __FP_FAST_FMAF32x 1; __FP_FAST_FMAF64 1; -__FXSR__;
-__GCC_ASM_FLAG_OUTPUTS__; -__GCC_CONSTRUCTIVE_SIZE; -__GCC_DESTRUCTIVE_SIZE; __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16 1;
__HAVE_BSWAP__ 1; __LDBL_DECIMAL_DIG__ 33; __LDBL_DIG__ 31; __LDBL_IS_IEC_60559__ 0; __LDBL_MANT_DIG__ 106;
__LDBL_MAX_10_EXP__ 308; __LDBL_MAX_EXP__ 1024; __LDBL_MIN_10_EXP__ (-291); __LDBL_MIN_EXP__ (-968);
__LITTLE_ENDIAN__ 1; __LONGDOUBLE128 1; __LONG_DOUBLE_128__ 1; __LONG_DOUBLE_IBM128__ 1; -__MMX_WITH_SSE__; -__MMX__;
__POWER8_VECTOR__ 1; __PPC64__ 1; __PPC__ 1; __QUAD_MEMORY_ATOMIC__ 1; __RECIPF__ 1; __RECIP_PRECISION__ 1; __RECIP__ 1;
__RSQRTEF__ 1; __RSQRTE__ 1; -__SEG_FS; -__SEG_GS; -__SIZEOF_FLOAT80__; __SIZEOF_IBM128__ 16; __SIZEOF_IEEE128__ 16;
-__SSE2_MATH__; -__SSE2__; -__SSE_MATH__; -__SSE__; __STRUCT_PARM_ALIGN__ 16;
__VEC_ELEMENT_REG_ORDER__ __ORDER_LITTLE_ENDIAN__; __VEC__ 10206; __VSX__ 1; -__amd64; -__amd64__;
__bool __attribute__((altivec(bool__))) unsigned; __builtin_copysignq __builtin_copysignf128;
__builtin_fabsq __builtin_fabsf128; __builtin_huge_valq __builtin_huge_valf128; __builtin_infq __builtin_inff128;
__builtin_nanq __builtin_nanf128; __builtin_nansq __builtin_nansf128; __builtin_vsx_vperm __builtin_vec_perm;
__builtin_vsx_xvmaddadp __builtin_vsx_xvmadddp; __builtin_vsx_xvmaddasp __builtin_vsx_xvmaddsp;
__builtin_vsx_xvmaddmdp __builtin_vsx_xvmadddp; __builtin_vsx_xvmaddmsp __builtin_vsx_xvmaddsp;
__builtin_vsx_xvmsubadp __builtin_vsx_xvmsubdp; __builtin_vsx_xvmsubasp __builtin_vsx_xvmsubsp;
__builtin_vsx_xvmsubmdp __builtin_vsx_xvmsubdp; __builtin_vsx_xvmsubmsp __builtin_vsx_xvmsubsp;
__builtin_vsx_xvnmaddadp __builtin_vsx_xvnmadddp; __builtin_vsx_xvnmaddasp __builtin_vsx_xvnmaddsp;
__builtin_vsx_xvnmaddmdp __builtin_vsx_xvnmadddp; __builtin_vsx_xvnmaddmsp __builtin_vsx_xvnmaddsp;
__builtin_vsx_xvnmsubadp __builtin_vsx_xvnmsubdp; __builtin_vsx_xvnmsubasp __builtin_vsx_xvnmsubsp;
__builtin_vsx_xvnmsubmdp __builtin_vsx_xvnmsubdp; __builtin_vsx_xvnmsubmsp __builtin_vsx_xvnmsubsp;
__builtin_vsx_xxland __builtin_vec_and; __builtin_vsx_xxlandc __builtin_vec_andc;
__builtin_vsx_xxlnor __builtin_vec_nor; __builtin_vsx_xxlor __builtin_vec_or; __builtin_vsx_xxlxor __builtin_vec_xor;
__builtin_vsx_xxsel __builtin_vec_sel; -__code_model_small__; __float128 __ieee128; -__k8; -__k8__;
__pixel __attribute__((altivec(pixel__))) unsigned short; __powerpc64__ 1; __powerpc__ 1;
__vector __attribute__((altivec(vector__))); -__x86_64; -__x86_64__; bool bool; pixel pixel; vector vector
@gcc c++ powerpc64le-linux-gnu
__GCC_CONSTRUCTIVE_SIZE 128; __GCC_DESTRUCTIVE_SIZE 128
@clang powerpc64le-linux-gnu
_ARCH_PPC 1; _ARCH_PPC64 1; _ARCH_PPCGR 1; _ARCH_PPCSQ 1; _ARCH_PWR4 1; _ARCH_PWR5 1; _ARCH_PWR5X 1; _ARCH_PWR6 1;
_ARCH_PWR7 1; _ARCH_PWR8 1; _CALL_ELF 2; _CALL_LINUX 1; _LITTLE_ENDIAN 1; __ALTIVEC__ 1; __CHAR_UNSIGNED__ 1;
__CRYPTO__ 1; -__FLOAT128__; -__FXSR__; -__GCC_ASM_FLAG_OUTPUTS__; __HAVE_BSWAP__ 1; __HTM__ 1; __LDBL_DECIMAL_DIG__ 33;
__LDBL_DIG__ 31; __LDBL_MANT_DIG__ 106; __LDBL_MAX_10_EXP__ 308; __LDBL_MAX_EXP__ 1024; __LDBL_MIN_10_EXP__ (-291);
__LDBL_MIN_EXP__ (-968); __LONGDOUBLE128 1; __LONG_DOUBLE_128__ 1; __LONG_DOUBLE_IBM128__ 1; -__MMX__;
__NATURAL_ALIGNMENT__ 1; -__NO_MATH_INLINES; __POWER8_VECTOR__ 1; __POWERPC__ 1; __PPC64__ 1; __PPC__ 1; -__SEG_FS;
-__SEG_GS; -__SIZEOF_FLOAT128__; -__SSE2_MATH__; -__SSE2__; -__SSE_MATH__; -__SSE__; __STRUCT_PARM_ALIGN__ 16;
__VEC__ 10206; __VSX__ 1; __addex __builtin_ppc_addex; __alignx __builtin_ppc_alignx; __alloca __builtin_alloca;
-__amd64; -__amd64__; __bcopy bcopy; __bpermd __builtin_bpermd; __cmpb __builtin_ppc_cmpb;
__cmpeqb __builtin_ppc_cmpeqb; __cmplx __builtin_complex; __cmplxf __builtin_complex; __cmplxl __builtin_complex;
__cmprb __builtin_ppc_cmprb; __cntlz4 __builtin_clz; __cntlz8 __builtin_clzll; __cnttz4 __builtin_ctz;
__cnttz8 __builtin_ctzll; -__code_model_small__; __compare_and_swap __builtin_ppc_compare_and_swap;
__compare_and_swaplp __builtin_ppc_compare_and_swaplp; __compare_exp_eq __builtin_ppc_compare_exp_eq;
__compare_exp_gt __builtin_ppc_compare_exp_gt; __compare_exp_lt __builtin_ppc_compare_exp_lt;
__compare_exp_uo __builtin_ppc_compare_exp_uo; __darn __builtin_darn; __darn_32 __builtin_darn_32;
__darn_raw __builtin_darn_raw; __dcbf __builtin_dcbf; __dcbfl __builtin_ppc_dcbfl; __dcbflp __builtin_ppc_dcbflp;
__dcbst __builtin_ppc_dcbst; __dcbt __builtin_ppc_dcbt; __dcbtst __builtin_ppc_dcbtst; __dcbtstt __builtin_ppc_dcbtstt;
__dcbtt __builtin_ppc_dcbtt; __dcbz __builtin_ppc_dcbz; __divde __builtin_divde; __divdeu __builtin_divdeu;
__divwe __builtin_divwe; __divweu __builtin_divweu; __eieio __builtin_ppc_eieio;
__extract_exp __builtin_ppc_extract_exp; __extract_sig __builtin_ppc_extract_sig; __fcfid __builtin_ppc_fcfid;
__fcfud __builtin_ppc_fcfud; __fctid __builtin_ppc_fctid; __fctidz __builtin_ppc_fctidz; __fctiw __builtin_ppc_fctiw;
__fctiwz __builtin_ppc_fctiwz; __fctudz __builtin_ppc_fctudz; __fctuwz __builtin_ppc_fctuwz;
__fetch_and_add __builtin_ppc_fetch_and_add; __fetch_and_addlp __builtin_ppc_fetch_and_addlp;
__fetch_and_and __builtin_ppc_fetch_and_and; __fetch_and_andlp __builtin_ppc_fetch_and_andlp;
__fetch_and_or __builtin_ppc_fetch_and_or; __fetch_and_orlp __builtin_ppc_fetch_and_orlp;
__fetch_and_swap __builtin_ppc_fetch_and_swap; __fetch_and_swaplp __builtin_ppc_fetch_and_swaplp; __fmadd __builtin_fma;
__fmadds __builtin_fmaf; __fmsub __builtin_ppc_fmsub; __fmsubs __builtin_ppc_fmsubs; __fnmadd __builtin_ppc_fnmadd;
__fnmadds __builtin_ppc_fnmadds; __fnmsub __builtin_ppc_fnmsub; __fnmsubs __builtin_ppc_fnmsubs;
__fre __builtin_ppc_fre; __fres __builtin_ppc_fres; __fric __builtin_ppc_fric; __frim __builtin_ppc_frim;
__frims __builtin_ppc_frims; __frin __builtin_ppc_frin; __frins __builtin_ppc_frins; __frip __builtin_ppc_frip;
__frips __builtin_ppc_frips; __friz __builtin_ppc_friz; __frizs __builtin_ppc_frizs; __frsqrte __builtin_ppc_frsqrte;
__frsqrtes __builtin_ppc_frsqrtes; __fsel __builtin_ppc_fsel; __fsels __builtin_ppc_fsels; __fsqrt __builtin_ppc_fsqrt;
__fsqrts __builtin_ppc_fsqrts; __icbt __builtin_ppc_icbt; __insert_exp __builtin_ppc_insert_exp;
__iospace_eieio __builtin_ppc_iospace_eieio; __iospace_lwsync __builtin_ppc_iospace_lwsync;
__iospace_sync __builtin_ppc_iospace_sync; __isync __builtin_ppc_isync; -__k8; -__k8__; __labs __builtin_labs;
__lbarx __builtin_ppc_lbarx; __ldarx __builtin_ppc_ldarx; __lharx __builtin_ppc_lharx; __llabs __builtin_llabs;
__load2r __builtin_ppc_load2r; __load4r __builtin_ppc_load4r; __load8r __builtin_ppc_load8r;
__lwarx __builtin_ppc_lwarx; __lwsync __builtin_ppc_lwsync; __maddhd __builtin_ppc_maddhd;
__maddhdu __builtin_ppc_maddhdu; __maddld __builtin_ppc_maddld; __mfmsr __builtin_ppc_mfmsr;
__mfspr __builtin_ppc_mfspr; __mftbu __builtin_ppc_mftbu; __mtfsb0 __builtin_ppc_mtfsb0; __mtfsb1 __builtin_ppc_mtfsb1;
__mtfsf __builtin_ppc_mtfsf; __mtfsfi __builtin_ppc_mtfsfi; __mtmsr __builtin_ppc_mtmsr; __mtspr __builtin_ppc_mtspr;
__mulhd __builtin_ppc_mulhd; __mulhdu __builtin_ppc_mulhdu; __mulhw __builtin_ppc_mulhw; __mulhwu __builtin_ppc_mulhwu;
__popcnt4 __builtin_popcount; __popcnt8 __builtin_popcountll; __popcntb __builtin_ppc_popcntb;
__poppar4 __builtin_ppc_poppar4; __poppar8 __builtin_ppc_poppar8; __powerpc64__ 1; __powerpc__ 1; __ppc64__ 1;
__ppc__ 1; __rdlam __builtin_ppc_rdlam; __readflm __builtin_readflm; __rldimi __builtin_ppc_rldimi;
__rlwimi __builtin_ppc_rlwimi; __rlwnm __builtin_ppc_rlwnm; __rotatel4 __builtin_rotateleft32;
__rotatel8 __builtin_rotateleft64; -__seg_fs; -__seg_gs; __setb __builtin_ppc_setb; __setflm __builtin_setflm;
__setrnd __builtin_setrnd; __stbcx __builtin_ppc_stbcx; __stdcx __builtin_ppc_stdcx; __stfiw __builtin_ppc_stfiw;
__sthcx __builtin_ppc_sthcx; __store2r __builtin_ppc_store2r; __store4r __builtin_ppc_store4r;
__store8r __builtin_ppc_store8r; __stwcx __builtin_ppc_stwcx; __swdiv __builtin_ppc_swdiv;
__swdiv_nochk __builtin_ppc_swdiv_nochk; __swdivs __builtin_ppc_swdivs; __swdivs_nochk __builtin_ppc_swdivs_nochk;
__sync __builtin_ppc_sync; __tdw __builtin_ppc_tdw; __test_data_class __builtin_ppc_test_data_class;
__trap __builtin_ppc_trap; __trapd __builtin_ppc_trapd; -__tune_k8__; __tw __builtin_ppc_tw;
__vcipher __builtin_altivec_crypto_vcipher; __vcipherlast __builtin_altivec_crypto_vcipherlast;
__vncipher __builtin_altivec_crypto_vncipher; __vncipherlast __builtin_altivec_crypto_vncipherlast;
__vpermxor __builtin_altivec_crypto_vpermxor; __vpmsumb __builtin_altivec_crypto_vpmsumb;
__vpmsumd __builtin_altivec_crypto_vpmsumd; __vpmsumh __builtin_altivec_crypto_vpmsumh;
__vpmsumw __builtin_altivec_crypto_vpmsumw; -__x86_64; -__x86_64__
@gcc powerpc64-linux-gnu
-_ARCH_PWR5; -_ARCH_PWR5X; -_ARCH_PWR6; -_ARCH_PWR7; -_ARCH_PWR8; _BIG_ENDIAN 1; _CALL_AIX 1; _CALL_AIXDESC 1;
_CALL_ELF 1; -_LITTLE_ENDIAN; -__ALTIVEC__; -__APPLE_ALTIVEC__; __BIG_ENDIAN__ 1; __BYTE_ORDER__ __ORDER_BIG_ENDIAN__;
-__CRYPTO__; -__FLOAT128_TYPE__; -__FLOAT128__; __FLOAT_WORD_ORDER__ __ORDER_BIG_ENDIAN__;
-__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16; -__LITTLE_ENDIAN__; -__POWER8_VECTOR__; -__QUAD_MEMORY_ATOMIC__;
-__RECIP_PRECISION__; -__RECIP__; -__RSQRTEF__; -__SIZEOF_FLOAT128__; -__SIZEOF_IEEE128__;
__VEC_ELEMENT_REG_ORDER__ __ORDER_BIG_ENDIAN__; -__VEC__; -__VSX__; -__builtin_copysignq; -__builtin_fabsq;
-__builtin_huge_valq; -__builtin_infq; -__builtin_nanq; -__builtin_nansq; -__float128
@clang powerpc64-linux-gnu
-_ARCH_PPCGR; -_ARCH_PPCSQ; -_ARCH_PWR4; -_ARCH_PWR5; -_ARCH_PWR5X; -_ARCH_PWR6; -_ARCH_PWR7; -_ARCH_PWR8;
_BIG_ENDIAN 1; _CALL_ELF 1; -_LITTLE_ENDIAN; __BIG_ENDIAN__ 1; __BYTE_ORDER__ __ORDER_BIG_ENDIAN__; -__CRYPTO__;
-__HTM__; -__LITTLE_ENDIAN__; -__POWER8_VECTOR__; -__STRUCT_PARM_ALIGN__; -__VSX__
@gcc s390x-linux-gnu
__ARCH__ 9; -__ATOMIC_HLE_ACQUIRE; -__ATOMIC_HLE_RELEASE; __BIGGEST_ALIGNMENT__ 8; __BYTE_ORDER__ __ORDER_BIG_ENDIAN__;
__CHAR_UNSIGNED__ 1; -__DECIMAL_BID_FORMAT__; __DECIMAL_DIG__ 36; __FLOAT_WORD_ORDER__ __ORDER_BIG_ENDIAN__;
__FP_FAST_FMA 1; __FP_FAST_FMAF 1; __FP_FAST_FMAF32 1; __FP_FAST_FMAF32x 1; __FP_FAST_FMAF64 1; -__FXSR__;
-__GCC_ASM_FLAG_OUTPUTS__; -__GCC_CONSTRUCTIVE_SIZE; -__GCC_DESTRUCTIVE_SIZE; __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16 1;
__LDBL_DECIMAL_DIG__ 36; __LDBL_DIG__ 33; __LDBL_MANT_DIG__ 113; __LONG_DOUBLE_128__ 1; -__MMX_WITH_SSE__; -__MMX__;
-__SEG_FS; -__SEG_GS; -__SIZEOF_FLOAT128__; -__SIZEOF_FLOAT80__; -__SSE2_MATH__; -__SSE2__; -__SSE_MATH__; -__SSE__;
=__STDCPP_DEFAULT_NEW_ALIGNMENT__ 8; -__amd64; -__amd64__; -__code_model_small__; -__k8; -__k8__; __s390__ 1;
__s390x__ 1; -__x86_64; -__x86_64__; __zarch__ 1
@gcc c++ s390x-linux-gnu
__GCC_CONSTRUCTIVE_SIZE 256; __GCC_DESTRUCTIVE_SIZE 256
@clang s390x-linux-gnu
__ARCH__ 9; __BIGGEST_ALIGNMENT__ 8; __BIG_ENDIAN__ 1; __BYTE_ORDER__ __ORDER_BIG_ENDIAN__; __CHAR_UNSIGNED__ 1;
-__FLOAT128__; -__FXSR__; -__GCC_ASM_FLAG_OUTPUTS__; __LDBL_DECIMAL_DIG__ 36; __LDBL_DIG__ 33; __LDBL_MANT_DIG__ 113;
-__LITTLE_ENDIAN__; __LONG_DOUBLE_128__ 1; -__MMX__; -__NO_MATH_INLINES; -__REGISTER_PREFIX__; -__SEG_FS; -__SEG_GS;
-__SIZEOF_FLOAT128__; -__SSE2_MATH__; -__SSE2__; -__SSE_MATH__; -__SSE__; -__amd64; -__amd64__; -__code_model_small__;
-__k8; -__k8__; __s390__ 1; __s390x__ 1; -__seg_fs; -__seg_gs; -__tune_k8__; -__x86_64; -__x86_64__; __zarch__ 1
)table";
// clang-format on

}  // namespace elfaudit::source
