// COUNTOF(array): the number of elements of an array, as a size_t constant.
//
// A pointer (an array parameter is one too) does not compile: the usual sizeof(a) / sizeof(a[0])
// would silently give a wrong count. For C from gnu11 to gnu23, gcc and clang.
#ifndef SLOWPATH_CASES_COUNTOF_H
#define SLOWPATH_CASES_COUNTOF_H

// An array's type differs from that of the address of its first element; a pointer's does not.
#define COUNTOF_IS_ARRAY(a) \
    (!__builtin_types_compatible_p(__typeof__(a), __typeof__(&(a)[0])))

// The check sits in a struct because that is the one place where a static assertion may stand
// inside an expression; multiplied by 0 it leaves the count alone.
#define COUNTOF(a)                                                                          \
    (sizeof(a) / sizeof((a)[0]) +                                                           \
     0 * sizeof(struct {                                                                    \
         _Static_assert(COUNTOF_IS_ARRAY(a), "COUNTOF needs an array, this is a pointer");  \
         char unused;                                                                       \
     }))

#endif
