/* Filling in a BfError. Names in brackets keep away the macros of status.h, which check formats. */
#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static BF_PRINTF(4, 0) void fill(BfError *err, BfStatus code, int64_t offset, const char *fmt,
								 va_list args)
{
	BF_ASSERT(code != BF_OK);
	err->code = code;
	err->sys_errno = 0;
	err->offset = offset;
	err->unverified = NULL;
	err->object[0] = '\0';
	err->column[0] = '\0';
	vsnprintf(err->text, sizeof err->text, fmt, args);
}

BfStatus(bf_error)(BfError *err, BfStatus code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fill(err, code, -1, fmt, args);
	va_end(args);
	return code;
}

BfStatus(bf_error_at)(BfError *err, BfStatus code, int64_t offset, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fill(err, code, offset, fmt, args);
	va_end(args);
	return code;
}

BfStatus(bf_error_errno)(BfError *err, int sys_errno, const char *object, const char *what)
{
	BfStatus code = BF_ERR_IO;

	if (sys_errno == ENOENT || sys_errno == ENOTDIR)
		code = BF_ERR_NOTFOUND;
	else if (sys_errno == EACCES || sys_errno == EPERM)
		code = BF_ERR_AUTH;
	else if (sys_errno == ENOMEM)
		code = BF_ERR_NOMEM;
	bf_error(err, code, "could not %s: %s", what, strerror(sys_errno));
	err->sys_errno = sys_errno;
	return bf_error_object(err, object);
}

/* Copies as much of src as fits; names are for people, a cut one is better than none. */
static void
copy_name(char *dst, size_t dst_size, const char *src)
{
	size_t n = strlen(src);

	if (n >= dst_size)
		n = dst_size - 1;
	memcpy(dst, src, n);
	dst[n] = '\0';
}

BfStatus(bf_error_object)(BfError *err, const char *object)
{
	BF_ASSERT(err->code != BF_OK);
	if (err->object[0] == '\0' && object != NULL)
		copy_name(err->object, sizeof err->object, object);
	return err->code;
}

BfStatus(bf_error_column)(BfError *err, const char *column)
{
	BF_ASSERT(err->code != BF_OK);
	if (err->column[0] == '\0' && column != NULL)
		copy_name(err->column, sizeof err->column, column);
	return err->code;
}

void
bf_error_clear(BfError *err)
{
	memset(err, 0, sizeof *err);
	err->offset = -1;
}

const char *
bf_status_name(BfStatus code)
{
	static const char *const names[BF_STATUS_COUNT] = {
		[BF_OK] = "OK",
		[BF_ERR_NOMEM] = "NOMEM",
		[BF_ERR_CORRUPT] = "CORRUPT",
		[BF_ERR_UNSUPPORTED] = "UNSUPPORTED",
		[BF_ERR_IO] = "IO",
		[BF_ERR_NOTFOUND] = "NOTFOUND",
		[BF_ERR_CONFLICT] = "CONFLICT",
		[BF_ERR_LIMIT] = "LIMIT",
		[BF_ERR_AUTH] = "AUTH",
		[BF_ERR_CANCEL] = "CANCEL",
		[BF_ERR_VALUE] = "VALUE",
		[BF_ERR_HOST] = "HOST",
	};

	return (unsigned) code < BF_STATUS_COUNT ? names[code] : "?";
}
