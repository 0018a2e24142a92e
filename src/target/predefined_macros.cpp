// The macros that gcc, clang and nvcc define for x86-64.

#include "target/machine_traits.hpp"

namespace elfaudit::source {

// Written by running `g++ -dM -E` 12.2 and `clang++ -dM -E` 14.0 for x86-64 Linux in each standard. Left out: limits of
// floating point, format strings, and what depends on options (predefined.cpp adds that).
// clang-format off
const std::string_view kPredefinedTable = R"table(
@every
_LP64 1; __ATOMIC_ACQUIRE 2; __ATOMIC_ACQ_REL 4; __ATOMIC_CONSUME 1; __ATOMIC_RELAXED 0; __ATOMIC_RELEASE 3;
__ATOMIC_SEQ_CST 5; __BIGGEST_ALIGNMENT__ 16; __BYTE_ORDER__ __ORDER_LITTLE_ENDIAN__;
__CHAR16_TYPE__ short unsigned int; __CHAR32_TYPE__ unsigned int; __CHAR_BIT__ 8; __DBL_DECIMAL_DIG__ 17;
__DBL_DIG__ 15; __DBL_HAS_DENORM__ 1; __DBL_HAS_INFINITY__ 1; __DBL_HAS_QUIET_NAN__ 1; __DBL_MANT_DIG__ 53;
__DBL_MAX_10_EXP__ 308; __DBL_MAX_EXP__ 1024; __DBL_MIN_10_EXP__ (-307); __DBL_MIN_EXP__ (-1021); __ELF__ 1;
__FINITE_MATH_ONLY__ 0; __FLT_DECIMAL_DIG__ 9; __FLT_DIG__ 6; __FLT_EVAL_METHOD__ 0; __FLT_HAS_DENORM__ 1;
__FLT_HAS_INFINITY__ 1; __FLT_HAS_QUIET_NAN__ 1; __FLT_MANT_DIG__ 24; __FLT_MAX_10_EXP__ 38; __FLT_MAX_EXP__ 128;
__FLT_MIN_10_EXP__ (-37); __FLT_MIN_EXP__ (-125); __FLT_RADIX__ 2; __FXSR__ 1; __GCC_ASM_FLAG_OUTPUTS__ 1;
__GCC_ATOMIC_BOOL_LOCK_FREE 2; __GCC_ATOMIC_CHAR16_T_LOCK_FREE 2; __GCC_ATOMIC_CHAR32_T_LOCK_FREE 2;
__GCC_ATOMIC_CHAR_LOCK_FREE 2; __GCC_ATOMIC_INT_LOCK_FREE 2; __GCC_ATOMIC_LLONG_LOCK_FREE 2;
__GCC_ATOMIC_LONG_LOCK_FREE 2; __GCC_ATOMIC_POINTER_LOCK_FREE 2; __GCC_ATOMIC_SHORT_LOCK_FREE 2;
__GCC_ATOMIC_TEST_AND_SET_TRUEVAL 1; __GCC_ATOMIC_WCHAR_T_LOCK_FREE 2; __GCC_HAVE_SYNC_COMPARE_AND_SWAP_1 1;
__GCC_HAVE_SYNC_COMPARE_AND_SWAP_2 1; __GCC_HAVE_SYNC_COMPARE_AND_SWAP_4 1; __GCC_HAVE_SYNC_COMPARE_AND_SWAP_8 1;
__INT16_MAX__ 0x7fff; __INT16_TYPE__ short int; __INT32_MAX__ 0x7fffffff; __INT32_TYPE__ int;
__INT64_MAX__ 0x7fffffffffffffffL; __INT64_TYPE__ long int; __INT8_MAX__ 0x7f; __INT8_TYPE__ signed char;
__INTMAX_MAX__ 0x7fffffffffffffffL; __INTMAX_TYPE__ long int; __INTMAX_WIDTH__ 64;
__INTPTR_MAX__ 0x7fffffffffffffffL; __INTPTR_TYPE__ long int; __INTPTR_WIDTH__ 64; __INT_FAST64_TYPE__ long int;
__INT_FAST64_WIDTH__ 64; __INT_FAST8_TYPE__ signed char; __INT_FAST8_WIDTH__ 8; __INT_LEAST16_MAX__ 0x7fff;
__INT_LEAST16_TYPE__ short int; __INT_LEAST16_WIDTH__ 16; __INT_LEAST32_MAX__ 0x7fffffff; __INT_LEAST32_TYPE__ int;
__INT_LEAST32_WIDTH__ 32; __INT_LEAST64_MAX__ 0x7fffffffffffffffL; __INT_LEAST64_TYPE__ long int;
__INT_LEAST64_WIDTH__ 64; __INT_LEAST8_MAX__ 0x7f; __INT_LEAST8_TYPE__ signed char; __INT_LEAST8_WIDTH__ 8;
__INT_MAX__ 0x7fffffff; __INT_WIDTH__ 32; __LDBL_DECIMAL_DIG__ 21; __LDBL_DIG__ 18; __LDBL_HAS_DENORM__ 1;
__LDBL_HAS_INFINITY__ 1; __LDBL_HAS_QUIET_NAN__ 1; __LDBL_MANT_DIG__ 64; __LDBL_MAX_10_EXP__ 4932;
__LDBL_MAX_EXP__ 16384; __LDBL_MIN_10_EXP__ (-4931); __LDBL_MIN_EXP__ (-16381);
__LONG_LONG_MAX__ 0x7fffffffffffffffLL; __LONG_MAX__ 0x7fffffffffffffffL; __LONG_WIDTH__ 64; __LP64__ 1; __MMX__ 1;
__NO_INLINE__ 1; __ORDER_BIG_ENDIAN__ 4321; __ORDER_LITTLE_ENDIAN__ 1234; __ORDER_PDP_ENDIAN__ 3412;
__PRAGMA_REDEFINE_EXTNAME 1; __PTRDIFF_MAX__ 0x7fffffffffffffffL; __PTRDIFF_TYPE__ long int; __PTRDIFF_WIDTH__ 64;
__REGISTER_PREFIX__; __SCHAR_MAX__ 0x7f; __SEG_FS 1; __SEG_GS 1; __SHRT_MAX__ 0x7fff; __SHRT_WIDTH__ 16;
__SIG_ATOMIC_MAX__ 0x7fffffff; __SIG_ATOMIC_WIDTH__ 32; __SIZEOF_DOUBLE__ 8; __SIZEOF_FLOAT128__ 16;
__SIZEOF_FLOAT__ 4; __SIZEOF_INT128__ 16; __SIZEOF_INT__ 4; __SIZEOF_LONG_DOUBLE__ 16; __SIZEOF_LONG_LONG__ 8;
__SIZEOF_LONG__ 8; __SIZEOF_POINTER__ 8; __SIZEOF_PTRDIFF_T__ 8; __SIZEOF_SHORT__ 2; __SIZEOF_SIZE_T__ 8;
__SIZEOF_WCHAR_T__ 4; __SIZEOF_WINT_T__ 4; __SIZE_MAX__ 0xffffffffffffffffUL; __SIZE_TYPE__ long unsigned int;
__SIZE_WIDTH__ 64; __SSE2_MATH__ 1; __SSE2__ 1; __SSE_MATH__ 1; __SSE__ 1; __STDC_HOSTED__ 1; __STDC__ 1;
__UINT16_MAX__ 0xffff; __UINT16_TYPE__ short unsigned int; __UINT32_MAX__ 0xffffffffU; __UINT32_TYPE__ unsigned int;
__UINT64_MAX__ 0xffffffffffffffffUL; __UINT64_TYPE__ long unsigned int; __UINT8_MAX__ 0xff;
__UINT8_TYPE__ unsigned char; __UINTMAX_MAX__ 0xffffffffffffffffUL; __UINTMAX_TYPE__ long unsigned int;
__UINTPTR_MAX__ 0xffffffffffffffffUL; __UINTPTR_TYPE__ long unsigned int; __UINT_FAST64_TYPE__ long unsigned int;
__UINT_FAST8_TYPE__ unsigned char; __UINT_LEAST16_MAX__ 0xffff; __UINT_LEAST16_TYPE__ short unsigned int;
__UINT_LEAST32_MAX__ 0xffffffffU; __UINT_LEAST32_TYPE__ unsigned int; __UINT_LEAST64_MAX__ 0xffffffffffffffffUL;
__UINT_LEAST64_TYPE__ long unsigned int; __UINT_LEAST8_MAX__ 0xff; __UINT_LEAST8_TYPE__ unsigned char;
__USER_LABEL_PREFIX__; __WCHAR_MAX__ 0x7fffffff; __WCHAR_TYPE__ int; __WCHAR_WIDTH__ 32; __WINT_MAX__ 0xffffffffU;
__WINT_TYPE__ unsigned int; __WINT_WIDTH__ 32; __amd64 1; __amd64__ 1; __code_model_small__ 1; __gnu_linux__ 1;
__k8 1; __k8__ 1; __linux 1; __linux__ 1; __unix 1; __unix__ 1; __x86_64 1; __x86_64__ 1
@gcc
__ATOMIC_HLE_ACQUIRE 65536; __ATOMIC_HLE_RELEASE 131072; __DBL_IS_IEC_60559__ 2;
__FLOAT_WORD_ORDER__ __ORDER_LITTLE_ENDIAN__; __FLT_EVAL_METHOD_TS_18661_3__ 0; __FLT_IS_IEC_60559__ 2;
__GCC_CONSTRUCTIVE_SIZE 64; __GCC_DESTRUCTIVE_SIZE 64; __GXX_ABI_VERSION 1017; __HAVE_SPECULATION_SAFE_VALUE 1;
__INT_FAST16_MAX__ 0x7fffffffffffffffL; __INT_FAST16_TYPE__ long int; __INT_FAST16_WIDTH__ 64;
__INT_FAST32_MAX__ 0x7fffffffffffffffL; __INT_FAST32_TYPE__ long int; __INT_FAST32_WIDTH__ 64;
__INT_FAST64_MAX__ 0x7fffffffffffffffL; __INT_FAST8_MAX__ 0x7f; __LDBL_IS_IEC_60559__ 2; __LONG_LONG_WIDTH__ 64;
__MMX_WITH_SSE__ 1; __SCHAR_WIDTH__ 8; __SIG_ATOMIC_MIN__ (-__SIG_ATOMIC_MAX__ - 1); __SIG_ATOMIC_TYPE__ int;
__SIZEOF_FLOAT80__ 16; __UINT_FAST16_MAX__ 0xffffffffffffffffUL; __UINT_FAST16_TYPE__ long unsigned int;
__UINT_FAST32_MAX__ 0xffffffffffffffffUL; __UINT_FAST32_TYPE__ long unsigned int;
__UINT_FAST64_MAX__ 0xffffffffffffffffUL; __UINT_FAST8_MAX__ 0xff; __WCHAR_MIN__ (-__WCHAR_MAX__ - 1);
__WINT_MIN__ 0U
@clang
__CHAR16_TYPE__ unsigned short; __INT16_TYPE__ short; __INT_LEAST16_TYPE__ short; __UINT16_TYPE__ unsigned short;
__UINT_LEAST16_TYPE__ unsigned short;
__BITINT_MAXWIDTH__ 128; __BOOL_WIDTH__ 8; __CLANG_ATOMIC_BOOL_LOCK_FREE 2; __CLANG_ATOMIC_CHAR16_T_LOCK_FREE 2;
__CLANG_ATOMIC_CHAR32_T_LOCK_FREE 2; __CLANG_ATOMIC_CHAR_LOCK_FREE 2; __CLANG_ATOMIC_INT_LOCK_FREE 2;
__CLANG_ATOMIC_LLONG_LOCK_FREE 2; __CLANG_ATOMIC_LONG_LOCK_FREE 2; __CLANG_ATOMIC_POINTER_LOCK_FREE 2;
__CLANG_ATOMIC_SHORT_LOCK_FREE 2; __CLANG_ATOMIC_WCHAR_T_LOCK_FREE 2; __CONSTANT_CFSTRINGS__ 1; __FLOAT128__ 1;
__GXX_ABI_VERSION 1002; __INT16_C_SUFFIX__; __INT16_FMTd__ "hd"; __INT16_FMTi__ "hi"; __INT32_C_SUFFIX__;
__INT32_FMTd__ "d"; __INT32_FMTi__ "i"; __INT64_C_SUFFIX__ L; __INT64_FMTd__ "ld"; __INT64_FMTi__ "li";
__INT8_C_SUFFIX__; __INT8_FMTd__ "hhd"; __INT8_FMTi__ "hhi"; __INTMAX_C_SUFFIX__ L; __INTMAX_FMTd__ "ld";
__INTMAX_FMTi__ "li"; __INTPTR_FMTd__ "ld"; __INTPTR_FMTi__ "li"; __INT_FAST16_FMTd__ "hd"; __INT_FAST16_FMTi__ "hi";
__INT_FAST16_MAX__ 32767; __INT_FAST16_TYPE__ short; __INT_FAST16_WIDTH__ 16; __INT_FAST32_FMTd__ "d";
__INT_FAST32_FMTi__ "i"; __INT_FAST32_MAX__ 2147483647; __INT_FAST32_TYPE__ int; __INT_FAST32_WIDTH__ 32;
__INT_FAST64_FMTd__ "ld"; __INT_FAST64_FMTi__ "li"; __INT_FAST64_MAX__ 9223372036854775807L;
__INT_FAST8_FMTd__ "hhd"; __INT_FAST8_FMTi__ "hhi"; __INT_FAST8_MAX__ 127; __INT_LEAST16_FMTd__ "hd";
__INT_LEAST16_FMTi__ "hi"; __INT_LEAST32_FMTd__ "d"; __INT_LEAST32_FMTi__ "i"; __INT_LEAST64_FMTd__ "ld";
__INT_LEAST64_FMTi__ "li"; __INT_LEAST8_FMTd__ "hhd"; __INT_LEAST8_FMTi__ "hhi"; __LITTLE_ENDIAN__ 1;
__LLONG_WIDTH__ 64; __NO_MATH_INLINES 1; __POINTER_WIDTH__ 64; __PTRDIFF_FMTd__ "ld"; __PTRDIFF_FMTi__ "li";
__SIZE_FMTX__ "lX"; __SIZE_FMTo__ "lo"; __SIZE_FMTu__ "lu"; __SIZE_FMTx__ "lx"; __STDC_UTF_16__ 1; __STDC_UTF_32__ 1;
__UINT16_C_SUFFIX__; __UINT16_FMTX__ "hX"; __UINT16_FMTo__ "ho"; __UINT16_FMTu__ "hu"; __UINT16_FMTx__ "hx";
__UINT32_C_SUFFIX__ U; __UINT32_FMTX__ "X"; __UINT32_FMTo__ "o"; __UINT32_FMTu__ "u"; __UINT32_FMTx__ "x";
__UINT64_C_SUFFIX__ UL; __UINT64_FMTX__ "lX"; __UINT64_FMTo__ "lo"; __UINT64_FMTu__ "lu"; __UINT64_FMTx__ "lx";
__UINT8_C_SUFFIX__; __UINT8_FMTX__ "hhX"; __UINT8_FMTo__ "hho"; __UINT8_FMTu__ "hhu"; __UINT8_FMTx__ "hhx";
__UINTMAX_C_SUFFIX__ UL; __UINTMAX_FMTX__ "lX"; __UINTMAX_FMTo__ "lo"; __UINTMAX_FMTu__ "lu"; __UINTMAX_FMTx__ "lx";
__UINTMAX_WIDTH__ 64; __UINTPTR_FMTX__ "lX"; __UINTPTR_FMTo__ "lo"; __UINTPTR_FMTu__ "lu"; __UINTPTR_FMTx__ "lx";
__UINTPTR_WIDTH__ 64; __UINT_FAST16_FMTX__ "hX"; __UINT_FAST16_FMTo__ "ho"; __UINT_FAST16_FMTu__ "hu";
__UINT_FAST16_FMTx__ "hx"; __UINT_FAST16_MAX__ 65535; __UINT_FAST16_TYPE__ unsigned short; __UINT_FAST32_FMTX__ "X";
__UINT_FAST32_FMTo__ "o"; __UINT_FAST32_FMTu__ "u"; __UINT_FAST32_FMTx__ "x"; __UINT_FAST32_MAX__ 4294967295U;
__UINT_FAST32_TYPE__ unsigned int; __UINT_FAST64_FMTX__ "lX"; __UINT_FAST64_FMTo__ "lo"; __UINT_FAST64_FMTu__ "lu";
__UINT_FAST64_FMTx__ "lx"; __UINT_FAST64_MAX__ 18446744073709551615UL; __UINT_FAST8_FMTX__ "hhX";
__UINT_FAST8_FMTo__ "hho"; __UINT_FAST8_FMTu__ "hhu"; __UINT_FAST8_FMTx__ "hhx"; __UINT_FAST8_MAX__ 255;
__UINT_LEAST16_FMTX__ "hX"; __UINT_LEAST16_FMTo__ "ho"; __UINT_LEAST16_FMTu__ "hu"; __UINT_LEAST16_FMTx__ "hx";
__UINT_LEAST32_FMTX__ "X"; __UINT_LEAST32_FMTo__ "o"; __UINT_LEAST32_FMTu__ "u"; __UINT_LEAST32_FMTx__ "x";
__UINT_LEAST64_FMTX__ "lX"; __UINT_LEAST64_FMTo__ "lo"; __UINT_LEAST64_FMTu__ "lu"; __UINT_LEAST64_FMTx__ "lx";
__UINT_LEAST8_FMTX__ "hhX"; __UINT_LEAST8_FMTo__ "hho"; __UINT_LEAST8_FMTu__ "hhu"; __UINT_LEAST8_FMTx__ "hhx";
__WINT_UNSIGNED__ 1; __clang__ 1; __llvm__ 1; __tune_k8__ 1
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
__cpp_nested_namespace_definitions 201411L; __cpp_noexcept_function_type 201510L;
__cpp_nontype_template_args 201411L; __cpp_nontype_template_parameter_auto 201606L; __cpp_range_based_for 201603L;
__cpp_static_assert 201411L; __cpp_structured_bindings 201606L; __cpp_template_auto 201606L;
__cpp_template_template_args 201611L; __cpp_unicode_characters 201411L; __cpp_variadic_using 201611L
@gcc c++ 20
__CHAR8_TYPE__ unsigned char; __GCC_ATOMIC_CHAR8_T_LOCK_FREE 2; __cplusplus 202002L;
__cpp_aggregate_paren_init 201902L; __cpp_char8_t 201811L; __cpp_concepts 202002L;
__cpp_conditional_explicit 201806L; __cpp_consteval 201811L; __cpp_constexpr 202002L;
__cpp_constexpr_dynamic_alloc 201907L; __cpp_constexpr_in_decltype 201711L; __cpp_constinit 201907L;
__cpp_deduction_guides 201907L; __cpp_designated_initializers 201707L; __cpp_generic_lambdas 201707L;
__cpp_impl_coroutine 201902L; __cpp_impl_destroying_delete 201806L; __cpp_impl_three_way_comparison 201907L;
__cpp_init_captures 201803L; __cpp_nontype_template_args 201911L; __cpp_nontype_template_parameter_class 201806L;
__cpp_using_enum 201907L
@gcc c++ 23
__cplusplus 202100L; __cpp_constexpr 202110L; __cpp_if_consteval 202106L; __cpp_multidimensional_subscript 202110L;
__cpp_size_t_suffix 202011L
@gcc c
@gcc c 89
__GNUC_GNU_INLINE__ 1
@gcc c 99
__GNUC_STDC_INLINE__ 1; __STDC_VERSION__ 199901L; -__GNUC_GNU_INLINE__
@gcc c 11
__STDC_UTF_16__ 1; __STDC_UTF_32__ 1; __STDC_VERSION__ 201112L
@gcc c 17
__STDC_VERSION__ 201710L
@gcc c 23
__STDC_VERSION__ 202000L
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
__cpp_decltype_auto 201304L; __cpp_digit_separators 201309L; __cpp_generic_lambdas 201304L;
__cpp_init_captures 201304L; __cpp_return_type_deduction 201304L; __cpp_variable_templates 201304L
@clang c++ 17
__cplusplus 201703L; __cpp_aggregate_bases 201603L; __cpp_aligned_new 201606L; __cpp_capture_star_this 201603L;
__cpp_constexpr 201603L; __cpp_deduction_guides 201703L; __cpp_enumerator_attributes 201411L;
__cpp_fold_expressions 201603L; __cpp_guaranteed_copy_elision 201606L; __cpp_hex_float 201603L;
__cpp_if_constexpr 201606L; __cpp_inline_variables 201606L; __cpp_namespace_attributes 201411L;
__cpp_nested_namespace_definitions 201411L; __cpp_noexcept_function_type 201510L;
__cpp_nontype_template_args 201411L; __cpp_nontype_template_parameter_auto 201606L; __cpp_range_based_for 201603L;
__cpp_static_assert 201411L; __cpp_structured_bindings 201606L; __cpp_template_auto 201606L;
__cpp_variadic_using 201611L
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
)table";
// clang-format on

}  // namespace elfaudit::source
