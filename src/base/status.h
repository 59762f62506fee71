/*
 * base/status.h: how core functions say that they failed.
 *
 * Every fallible core function returns a BfStatus and takes `BfError *err` as its last parameter;
 * results go through pointers. On BF_OK *err is untouched. On failure the error is filled once,
 * where it is found; callers on the way up only add what they alone know (the object's name).
 *
 *     BF_TRY(bf_cursor_u32le(&c, &n, err));                 forward a failure
 *     BF_FAIL(err, BF_ERR_UNSUPPORTED, "codec %d", id);      create one and return
 *     BF_DATA(err, n <= left, offset, "%d values", n);     check bytes from outside, always on
 *     BF_ASSERT(p != NULL);                                  a bug of ours; debug builds only
 *     BF_NEVER(err, cond);                                   believed impossible; error in release
 */
#ifndef BF_BASE_STATUS_H
#define BF_BASE_STATUS_H

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum BfStatus
{
	BF_OK = 0,
	BF_ERR_NOMEM,		/* the host has no memory */
	BF_ERR_CORRUPT,		/* bytes from outside are damaged */
	BF_ERR_UNSUPPORTED, /* valid, but we don't read it */
	BF_ERR_IO,			/* the operating system said no; sys_errno tells why */
	BF_ERR_NOTFOUND,	/* no such file, table, snapshot */
	BF_ERR_CONFLICT,	/* someone else was faster; retry */
	BF_ERR_LIMIT,		/* a configured bound would be passed */
	BF_ERR_AUTH,		/* not allowed */
	BF_ERR_CANCEL,		/* the host asked us to stop */
	BF_ERR_VALUE,		/* a value does not fit where it has to go */
	BF_ERR_HOST,		/* the host's own failure, kept by the host */
	BF_STATUS_COUNT
} BfStatus;

#define BF_ERROR_TEXT_MAX 512
#define BF_ERROR_OBJECT_MAX 1024
#define BF_ERROR_COLUMN_MAX 128

typedef struct BfError
{
	BfStatus code;
	int sys_errno;					  /* for BF_ERR_IO and BF_ERR_NOTFOUND, else 0 */
	int64_t offset;					  /* byte position in `object`, -1 = unknown */
	const char *unverified;			  /* what is read in spite of this when nothing is verified */
	char object[BF_ERROR_OBJECT_MAX]; /* file or table, "" = unknown */
	char column[BF_ERROR_COLUMN_MAX]; /* column, "" = none */
	char text[BF_ERROR_TEXT_MAX];	  /* what is wrong and what was expected; no newline */
} BfError;

#define BF_MUST_CHECK __attribute__((warn_unused_result))
#define BF_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define BF_LIKELY(x) __builtin_expect(!!(x), 1)
#define BF_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Fills *err and returns code, so that `return bf_error(...)` is the whole failure. */
extern BfStatus bf_error(BfError *err, BfStatus code, const char *fmt, ...) BF_PRINTF(3, 4);
extern BfStatus
bf_error_at(BfError *err, BfStatus code, int64_t offset, const char *fmt, ...) BF_PRINTF(4, 5);
/* From an errno value: ENOENT gives BF_ERR_NOTFOUND, EACCES BF_ERR_AUTH, others BF_ERR_IO. */
extern BfStatus bf_error_errno(BfError *err, int sys_errno, const char *object, const char *what);
/* Names the object (or column) if nobody deeper did. Both return err->code. */
extern BfStatus bf_error_object(BfError *err, const char *object);
extern BfStatus bf_error_column(BfError *err, const char *column);
extern void bf_error_clear(BfError *err);
/* "CORRUPT" and so on, for tests and logs. */
extern const char *bf_status_name(BfStatus code);

/* Tells the compiler that a failure is never BF_OK, or it would warn of results left unset. */
static inline BfStatus
bf_failed_(BfStatus code)
{
	return code == BF_OK ? BF_ERR_HOST : code;
}
#define bf_error(err, ...) bf_failed_((bf_error) ((err), __VA_ARGS__))
#define bf_error_at(err, ...) bf_failed_((bf_error_at) ((err), __VA_ARGS__))
#define bf_error_errno(err, ...) bf_failed_((bf_error_errno) ((err), __VA_ARGS__))
#define bf_error_object(err, object) bf_failed_((bf_error_object) ((err), (object)))
#define bf_error_column(err, column) bf_failed_((bf_error_column) ((err), (column)))

#define BF_TRY(expr)                              \
	do                                            \
	{                                             \
		BfStatus bf_try_status_ = (expr);         \
		if (BF_UNLIKELY(bf_try_status_ != BF_OK)) \
			return bf_try_status_;                \
	} while (0)

#define BF_FAIL(err, code, ...) return bf_error((err), (code), __VA_ARGS__)
#define BF_FAIL_AT(err, code, off, ...) return bf_error_at((err), (code), (off), __VA_ARGS__)

#define BF_DATA(err, cond, off, ...)                                       \
	do                                                                     \
	{                                                                      \
		if (BF_UNLIKELY(!(cond)))                                          \
			return bf_error_at((err), BF_ERR_CORRUPT, (off), __VA_ARGS__); \
	} while (0)

#ifdef BF_DEBUG
#define BF_ASSERT(cond) assert(cond)
#else
#define BF_ASSERT(cond) ((void) 0)
#endif

#define BF_NEVER(err, cond)                                                      \
	do                                                                           \
	{                                                                            \
		bool bf_never_ = (cond);                                                 \
		BF_ASSERT(!bf_never_);                                                   \
		if (BF_UNLIKELY(bf_never_))                                              \
			return bf_error((err), BF_ERR_CORRUPT, "internal error: %s", #cond); \
	} while (0)

#endif
