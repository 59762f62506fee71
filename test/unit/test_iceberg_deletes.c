/* Which delete files apply to which data files: the rules one by one, and random tables against
 * the rules applied to every pair. */
#include <stdlib.h>

#include "iceberg/internal.h"
#include "unit/lib/runner.h"
#include "unit/test_iceberg_make.h"

#define SCHEMAS                                                                  \
	"[{\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"n\",\"type\":\"long\"}," \
	"{\"id\":2,\"name\":\"s\",\"type\":\"string\"}]},"                           \
	"{\"schema-id\":1,\"fields\":[{\"id\":1,\"name\":\"n\",\"type\":\"long\"},"  \
	"{\"id\":2,\"name\":\"s\",\"type\":\"string\"},{\"id\":3,\"name\":\"old\","  \
	"\"type\":\"date\"}]}]"
/* 0 partitions by n, 1 by s, 2 not at all, 3 by a field that was dropped, 4 by something unknown.
 */
#define SPECS                                                                          \
	"[{\"spec-id\":0,\"fields\":[{\"name\":\"n\",\"transform\":\"identity\","          \
	"\"source-id\":1,\"field-id\":1000}]},{\"spec-id\":1,\"fields\":[{\"name\":\"s\"," \
	"\"transform\":\"identity\",\"source-id\":2,\"field-id\":1001}]},"                 \
	"{\"spec-id\":2,\"fields\":[]},{\"spec-id\":3,\"fields\":[{\"name\":\"v\","        \
	"\"transform\":\"void\",\"source-id\":1,\"field-id\":1002}]}]"

#define MANIFESTS_MAX 16
#define FILES_MAX 600

/* A table under construction: one snapshot, manifests by (spec, kind). */
typedef struct Build
{
	MakeManifest manifests[MANIFESTS_MAX];
	MakeManifest *pointers[MANIFESTS_MAX];
	MakeFile *files[MANIFESTS_MAX];
	int32_t n;
} Build;

static MakeFile *
add(Build *b, int32_t spec_id, bool deletes)
{
	int32_t i = 0;

	while (i < b->n && (b->manifests[i].spec_id != spec_id || b->manifests[i].deletes != deletes))
		i++;
	if (i == b->n)
	{
		b->files[i] = bf_arena_alloc(test_arena(), FILES_MAX * sizeof(MakeFile));
		b->manifests[i] =
			(MakeManifest){.name = bf_arena_printf(test_arena(), "m%d-%d.avro", spec_id, deletes),
						   .spec_id = spec_id,
						   .deletes = deletes,
						   .sequence = 99,
						   .snapshot_id = 1,
						   .files = b->files[i]};
		b->pointers[i] = &b->manifests[i];
		b->n++;
	}
	memset(&b->files[i][b->manifests[i].n_files], 0, sizeof(MakeFile));
	b->files[i][b->manifests[i].n_files].status = BF_ICE_ADDED;
	return &b->files[i][b->manifests[i].n_files++];
}

static const char *
below(const char *name)
{
	return bf_arena_printf(test_arena(), "file://%s/data/%s", test_dir(), name);
}

static MakeFile *
add_data(Build *b, const char *name, int32_t spec_id, const BfValue *partition, int64_t sequence)
{
	MakeFile *f = add(b, spec_id, false);

	f->path = below(name);
	f->sequence = sequence;
	f->rows = 10;
	f->n_partition = partition != NULL;
	f->partition = partition;
	return f;
}

static const int32_t key_ids[] = {1, 3};

static MakeFile *
add_delete(Build *b, BfIceContent content, const char *name, int32_t spec_id,
		   const BfValue *partition, int64_t sequence)
{
	MakeFile *f = add(b, spec_id, true);

	f->content = content;
	f->path = below(name);
	f->sequence = sequence;
	f->rows = 3;
	f->n_partition = partition != NULL;
	f->partition = partition;
	if (content == BF_ICE_EQUALITY_DELETES)
	{
		f->equality_ids = key_ids;
		f->n_equality_ids = 2;
	}
	return f;
}

static MakeFile *
add_vector(Build *b, const char *name, const char *data, int32_t spec_id, const BfValue *partition,
		   int64_t sequence)
{
	MakeFile *f = add_delete(b, BF_ICE_POSITION_DELETES, name, spec_id, partition, sequence);

	f->format = "puffin";
	f->referenced = below(data);
	f->offset = 4;
	f->length = 40;
	return f;
}

static BfIceTable *
build_table(Build *b)
{
	MakeSnapshot snapshot = {1, 0, 99, 5, -1, NULL, b->n, b->pointers};
	MakeTable table = {.version = 3,
					   .schemas = SCHEMAS,
					   .specs = SPECS,
					   .current = 1,
					   .n_snapshots = 1,
					   .snapshots = &snapshot};

	for (int32_t i = 0; i < b->n; i++)
		b->manifests[i].path = NULL;
	return make_table(&table);
}

static BfStatus
plan(const BfIceTable *t, const BfPred *pred, BfIceCache *cache, BfIcePlan **out)
{
	BfIceScan scan = {.pred = pred, .prune = BF_PRUNE_ALL, .cache = cache};

	bf_error_clear(&test_err);
	BF_TRY(bf_ice_at_resolve(t, &(BfIceAt){.kind = BF_ICE_AT_CURRENT}, &scan.point, &test_err));
	return bf_ice_plan_scan(test_arena(), t, &scan, out, &test_err);
}

static int
compare_names(const void *x, const void *y)
{
	return strcmp(*(const char *const *) x, *(const char *const *) y);
}

/* "a,b", in the order of names. */
static const char *
join_names(const char **names, int32_t n)
{
	const char *text = "";

	qsort(names, (size_t) n, sizeof *names, compare_names);
	for (int32_t i = 0; i < n; i++)
		text = bf_arena_printf(test_arena(), "%s%s%s", text, i > 0 ? "," : "", names[i]);
	return text;
}

static const char *
names_of(const BfIceDeletes *list)
{
	const char **names = bf_arena_alloc_array(test_arena(), (size_t) list->n + 1, sizeof *names);

	for (int32_t i = 0; i < list->n; i++)
		names[i] = strrchr(list->files[i]->path, '/') + 1;
	return join_names(names, list->n);
}

/* "own|position|equality" of a data file. */
static const char *
deletes_of(const BfIcePlan *p, const char *name)
{
	for (int32_t i = 0; i < p->n_files; i++)
	{
		const BfIceDataFile *f = &p->files[i];

		if (strcmp(strrchr(f->path, '/') + 1, name) == 0)
			return bf_arena_printf(test_arena(), "%s|%s|%s", names_of(&f->own),
								   names_of(&f->position), names_of(&f->equality));
	}
	return "no such file";
}

TEST(iceberg_deletes_rules)
{
	Build b = {.n = 0};
	const BfValue *five = make_i64(5), *six = make_i64(6), *null = make_null(BF_KIND_INT64),
				  *text = make_text("5");
	BfIceTable *t;
	BfIcePlan *p;

	add_data(&b, "five", 0, five, 10);
	add_data(&b, "five-young", 0, five, 12);
	add_data(&b, "six", 0, six, 10);
	add_data(&b, "null", 0, null, 10);
	add_data(&b, "text", 1, text, 10);
	add_data(&b, "all", 2, NULL, 10);
	add_delete(&b, BF_ICE_POSITION_DELETES, "p5-9", 0, five, 9);
	add_delete(&b, BF_ICE_POSITION_DELETES, "p5-10", 0, five, 10);
	add_delete(&b, BF_ICE_POSITION_DELETES, "p5-12", 0, five, 12);
	add_delete(&b, BF_ICE_EQUALITY_DELETES, "e5-10", 0, five, 10);
	add_delete(&b, BF_ICE_EQUALITY_DELETES, "e5-11", 0, five, 11);
	add_delete(&b, BF_ICE_EQUALITY_DELETES, "e5-12", 0, five, 12);
	add_delete(&b, BF_ICE_EQUALITY_DELETES, "e5-13", 0, five, 13);
	add_delete(&b, BF_ICE_POSITION_DELETES, "pn-11", 0, null, 11);
	add_delete(&b, BF_ICE_EQUALITY_DELETES, "en-11", 0, null, 11);
	add_delete(&b, BF_ICE_EQUALITY_DELETES, "et-11", 1, text, 11);
	add_delete(&b, BF_ICE_EQUALITY_DELETES, "global-11", 2, NULL, 11);
	/* A spec whose only field is dropped partitions nothing either. */
	add_delete(&b, BF_ICE_EQUALITY_DELETES, "void-12", 3, null, 12);
	/* Position deletes without partition are those of files without partition. */
	add_delete(&b, BF_ICE_POSITION_DELETES, "pa-11", 2, NULL, 11);
	add_delete(&b, BF_ICE_POSITION_DELETES, "p7-11", 0, make_i64(7), 11);
	t = build_table(&b);
	REQUIRE(t != NULL);
	REQUIRE_OK(plan(t, NULL, NULL, &p));
	EXPECT_STR(deletes_of(p, "five"), "|p5-10,p5-12|e5-11,e5-12,e5-13,global-11,void-12");
	EXPECT_STR(deletes_of(p, "five-young"), "|p5-12|e5-13");
	EXPECT_STR(deletes_of(p, "six"), "||global-11,void-12");
	EXPECT_STR(deletes_of(p, "null"), "|pn-11|en-11,global-11,void-12");
	EXPECT_STR(deletes_of(p, "text"), "||et-11,global-11,void-12");
	EXPECT_STR(deletes_of(p, "all"), "|pa-11|global-11,void-12");
	EXPECT(p->has_deletes);
	EXPECT_EQ(p->total_rows, 60);
	EXPECT_EQ(p->counters.delete_files_unused, 2); /* p7-11, and e5-10 as old as its files */
	EXPECT_EQ(p->files[0].equality.files[0]->n_equality_ids, 2);
	EXPECT_STR(p->files[0].equality.files[0]->equality_fields[1]->name, "old");
	EXPECT_EQ(p->files[0].equality.files[0]->scope, p->files[1].equality.files[0]->scope);
	EXPECT_EQ(p->files[2].equality.files[0]->scope, 0);
	/* Arrays are shared. */
	EXPECT(p->files[2].equality.files == p->files[5].equality.files);
	EXPECT_EQ(bf_ice_n_deletes(&p->files[0]), 7);
	EXPECT(bf_ice_delete(&p->files[0], 2) == p->files[0].equality.files[0]);
}

/* Deletes that name one file. */
TEST(iceberg_deletes_of_one_file)
{
	Build b = {.n = 0};
	const BfValue *five = make_i64(5);
	MakeColumn whole = {2147483546, NULL, NULL, -1, -1, -1}, cut = whole, strange = whole,
			   range = whole, gone = whole, outside = whole;
	BfIceTable *t;
	BfIcePlan *p;
	MakeFile *f;

	add_data(&b, "a.parquet", 0, five, 10);
	add_data(&b, "b.parquet", 0, five, 10);
	add_data(&b, "v.parquet", 0, five, 10);
	f = add_delete(&b, BF_ICE_POSITION_DELETES, "named-a", 0, five, 10);
	f->referenced = below("a.parquet");
	f = add_delete(&b, BF_ICE_POSITION_DELETES, "old-a", 0, five, 9);
	f->referenced = below("a.parquet");
	/* The same path, otherwise spelt. */
	whole.lower = whole.upper =
		make_text(bf_arena_printf(test_arena(), "%s//data/./b.parquet", test_dir()));
	f = add_delete(&b, BF_ICE_POSITION_DELETES, "bound-b", 0, five, 10);
	f->columns = &whole;
	f->n_columns = 1;
	/* Cut after 16 bytes or somewhere in the name: perhaps of any file, or of one that begins so.
	 */
	cut.lower = cut.upper = make_text("file:///tmp/bf_x");
	f = add_delete(&b, BF_ICE_POSITION_DELETES, "cut-any", 0, five, 10);
	f->columns = &cut;
	f->n_columns = 1;
	strange.lower = strange.upper = make_text(below("a.par"));
	f = add_delete(&b, BF_ICE_POSITION_DELETES, "cut-a", 0, five, 10);
	f->columns = &strange;
	f->n_columns = 1;
	range.lower = make_text(below("a.parquet"));
	range.upper = make_text(below("b.parquet"));
	f = add_delete(&b, BF_ICE_POSITION_DELETES, "range", 0, five, 10);
	f->columns = &range;
	f->n_columns = 1;
	/* Of files that the snapshot does not have. */
	gone.lower = gone.upper = make_text(below("gone.parquet"));
	f = add_delete(&b, BF_ICE_POSITION_DELETES, "gone", 0, five, 10);
	f->columns = &gone;
	f->n_columns = 1;
	f = add_delete(&b, BF_ICE_POSITION_DELETES, "dangling", 0, five, 10);
	f->referenced = below("gone.parquet");
	outside.lower = outside.upper = make_text("s3://elsewhere/x.parquet");
	f = add_delete(&b, BF_ICE_POSITION_DELETES, "outside", 0, five, 10);
	f->columns = &outside;
	f->n_columns = 1;
	add_vector(&b, "v.puffin", "v.parquet", 0, five, 10);
	add_vector(&b, "w.puffin", "gone.parquet", 0, five, 10);
	add_delete(&b, BF_ICE_EQUALITY_DELETES, "eq", 0, five, 11);
	t = build_table(&b);
	REQUIRE(t != NULL);
	REQUIRE_OK(plan(t, NULL, NULL, &p));
	EXPECT_STR(deletes_of(p, "a.parquet"), "named-a|cut-a,cut-any,outside,range|eq");
	EXPECT_STR(deletes_of(p, "b.parquet"), "bound-b|cut-a,cut-any,outside,range|eq");
	EXPECT_STR(deletes_of(p, "v.parquet"), "v.puffin||eq");
	EXPECT_EQ(p->files[2].own.files[0]->kind, BF_ICE_DELETE_VECTOR);
	EXPECT_EQ(p->files[2].own.files[0]->vector_offset, 4);
	EXPECT_EQ(p->files[2].own.files[0]->vector_length, 40);
	EXPECT_STR(p->files[2].own.files[0]->referenced, p->files[2].path);
	EXPECT_STR(p->files[1].own.files[0]->referenced, p->files[1].path);
	EXPECT_EQ(p->counters.delete_files_unused, 4); /* old-a, gone, dangling, w.puffin */
}

/* One thing wrong per table. */
TEST(iceberg_deletes_damaged)
{
	static const struct
	{
		BfStatus code;
		const char *names;
	} cases[] = {
		{BF_ERR_CORRUPT, "has two deletion vectors"},
		{BF_ERR_CORRUPT, "is older than it"},
		{BF_ERR_CORRUPT, "belongs to another partition"},
		{BF_ERR_CORRUPT, "its data file"},
		{BF_ERR_CORRUPT, "where it is"},
		{BF_ERR_UNSUPPORTED, "format ORC"},
		{BF_ERR_UNSUPPORTED, "format ORC"},
		{BF_ERR_UNSUPPORTED, "format PUFFIN"},
		{BF_ERR_CORRUPT, "does not tell its columns"},
		{BF_ERR_CORRUPT, "no schema of the table has its column 77"},
		{BF_ERR_CORRUPT, "a manifest of deletes has a data file"},
		{BF_ERR_CORRUPT, "twice"},
		{BF_ERR_UNSUPPORTED, "data files of format ORC"},
		{BF_ERR_UNSUPPORTED, "rows of logical file"},
		{BF_ERR_CORRUPT, "inherits its sequence number"},
	};
	static const int32_t unknown_id[] = {77};
	const BfValue *five = make_i64(5);

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		Build b = {.n = 0};
		BfIcePlan *p;
		BfIceTable *t;
		MakeFile *f;

		add_data(&b, "a", 0, five, 10);
		switch (i)
		{
			case 0:
				add_vector(&b, "v2", "a", 0, five, 10);
				add_vector(&b, "v", "a", 0, five, 12);
				break;
			case 1: add_vector(&b, "v", "a", 0, five, 9); break;
			case 2: add_vector(&b, "v", "a", 0, make_i64(6), 10); break;
			case 3: add_vector(&b, "v", "a", 0, five, 10)->referenced = NULL; break;
			case 4: add_vector(&b, "v", "a", 0, five, 10)->length = 0; break;
			case 5:
				add_delete(&b, BF_ICE_POSITION_DELETES, "d", 0, five, 10)->format = "ORC";
				break;
			case 6:
				add_delete(&b, BF_ICE_EQUALITY_DELETES, "d", 0, five, 10)->format = "orc";
				break;
			case 7:
				add_delete(&b, BF_ICE_EQUALITY_DELETES, "d", 0, five, 10)->format = "PUFFIN";
				break;
			case 8:
				add_delete(&b, BF_ICE_EQUALITY_DELETES, "d", 0, five, 11)->n_equality_ids = 0;
				break;
			case 9:
				f = add_delete(&b, BF_ICE_EQUALITY_DELETES, "d", 0, five, 11);
				f->n_equality_ids = 1;
				f->equality_ids = unknown_id;
				break;
			case 10: add_delete(&b, BF_ICE_DATA, "d", 0, five, 11); break;
			case 11: add_data(&b, "./a", 0, five, 10); break;
			case 12: add_data(&b, "o", 0, five, 10)->format = "orc"; break;
			case 13:
				f = add_data(&b, "l", 0, five, 10);
				f->path = "bifang://d/t/7_0-9.log";
				f->format = "LOG";
				add_delete(&b, BF_ICE_EQUALITY_DELETES, "d", 0, five, 11);
				break;
			default:
				add_data(&b, "n", 0, five, -1);
				b.manifests[0].sequence = -1;
				break;
		}
		t = build_table(&b);
		REQUIRE(t != NULL);
		EXPECT_FAIL(plan(t, NULL, NULL, &p), cases[i].code, -1);
		if (strstr(test_err.text, cases[i].names) == NULL)
			test_fail(__FILE__, __LINE__, "case %zu: \"%s\" does not name %s", i, test_err.text,
					  cases[i].names);
	}
}

/* Lists that call a manifest of deletes one of data: the entries tell, but where the header says
 * data too. */
TEST(iceberg_deletes_in_data_manifest)
{
	static const char *const headers[] = {NULL, "deletes", "data"};
	const BfValue *five = make_i64(5);

	for (int i = 0; i < 3; i++)
	{
		Build b = {.n = 0};
		BfIceTable *t;
		BfIcePlan *p;
		MakeFile *f;

		add_data(&b, "a", 0, five, 10);
		f = add(&b, 0, false);
		f->content = BF_ICE_POSITION_DELETES;
		f->path = below("p");
		f->sequence = 10;
		f->n_partition = 1;
		f->partition = five;
		b.manifests[0].header_content = headers[i];
		t = build_table(&b);
		REQUIRE(t != NULL);
		if (i == 2)
		{
			EXPECT_FAIL(plan(t, NULL, NULL, &p), BF_ERR_CORRUPT, -1);
			EXPECT(strstr(test_err.text, "a manifest of data has a delete file") != NULL);
			continue;
		}
		REQUIRE_OK(plan(t, NULL, NULL, &p));
		EXPECT_STR(deletes_of(p, "a"), "|p|");
		EXPECT_EQ(p->n_files, 1);
	}
}

/* --- Random tables --------------------------------------------------------------------------- */

static bool
same_partition(const MakeFile *a, int32_t spec_a, const MakeFile *b, int32_t spec_b)
{
	if (spec_a != spec_b)
		return false;
	return a->n_partition == 0 || (a->partition->is_null && b->partition->is_null) ||
		   (!a->partition->is_null && !b->partition->is_null &&
			bf_value_compare(a->partition, b->partition) == 0);
}

/* The rules, for one pair. 0 = does not apply, else own 1, position 2, equality 3. */
static int
applies(const MakeFile *d, int32_t spec, const MakeFile *x, int32_t spec_x, bool has_vector)
{
	if (x->content == BF_ICE_EQUALITY_DELETES)
		return x->sequence > d->sequence && (spec_x >= 2 || same_partition(d, spec, x, spec_x)) ? 3
																								: 0;
	if (x->format != NULL)
		return strcmp(x->referenced, d->path) == 0 ? 1 : 0;
	if (has_vector || x->sequence < d->sequence)
		return 0;
	if (x->referenced != NULL)
		return strcmp(x->referenced, d->path) == 0 ? 1 : 0;
	return same_partition(d, spec, x, spec_x) ? 2 : 0;
}

static void
random_value(int32_t spec, MakeFile *f)
{
	static const char *const texts[] = {"", "x", "xy"};

	f->n_partition = spec != 2;
	if (spec == 3)
		f->partition = make_null(BF_KIND_INT64);
	else if ((uint32_t) test_random_below(4) == 0)
		f->partition = make_null(spec == 0 ? BF_KIND_INT64 : BF_KIND_STRING);
	else
		f->partition = spec == 0 ? make_i64((int64_t) test_random_below(3))
								 : make_text(texts[(uint32_t) test_random_below(3)]);
}

/* What the rules give for one data file. */
static const char *
expected_of(const Build *b, const MakeFile *d, int32_t spec)
{
	const char *names[4][FILES_MAX], *texts[4];
	int32_t n[4] = {0, 0, 0, 0};
	bool has_vector = false;

	for (int pass = 0; pass < 2; pass++)
		for (int32_t k = 0; k < b->n; k++)
			for (int32_t j = 0; j < b->manifests[k].n_files && b->manifests[k].deletes; j++)
			{
				const MakeFile *x = &b->files[k][j];
				int which = applies(d, spec, x, b->manifests[k].spec_id, has_vector);

				if (pass == 0)
					has_vector |= which == 1 && x->format != NULL;
				else
					names[which][n[which]++] = strrchr(x->path, '/') + 1;
			}
	for (int i = 1; i < 4; i++)
		texts[i] = join_names(names[i], n[i]);
	return bf_arena_printf(test_arena(), "%s|%s|%s", texts[1], texts[2], texts[3]);
}

/* The same plan in another process. */
static const BfIcePlan *
packed(const BfIceTable *t, const BfIcePlan *p)
{
	BfIcePlan *out;
	BfView bytes;

	if (bf_ice_plan_pack(test_arena(), p, &bytes, &test_err) != BF_OK ||
		bf_ice_plan_unpack(test_arena(), t, bytes, &out, &test_err) != BF_OK)
	{
		test_fail(__FILE__, __LINE__, "%s", test_err.text);
		return p;
	}
	EXPECT_EQ(out->n_files, p->n_files);
	EXPECT_EQ(out->total_rows, p->total_rows);
	EXPECT_EQ(out->has_deletes, p->has_deletes);
	for (int32_t i = 0; i < out->n_files && i < p->n_files; i++)
	{
		const BfIceDataFile *x = &out->files[i], *y = &p->files[i];

		EXPECT(x->sequence_number == y->sequence_number && x->spec_id == y->spec_id &&
			   x->record_count == y->record_count && x->file_size == y->file_size &&
			   x->snapshot_id == y->snapshot_id && x->first_row_id == y->first_row_id &&
			   x->format == y->format && x->n_partition == y->n_partition &&
			   x->n_constants == y->n_constants);
		for (int32_t k = 0; k < x->n_partition; k++)
			EXPECT(x->partition[k].is_null == y->partition[k].is_null &&
				   (x->partition[k].is_null ||
					bf_value_compare(&x->partition[k], &y->partition[k]) == 0));
		for (int32_t k = 0; k < x->n_constants; k++)
			EXPECT(x->constant_ids[k] == y->constant_ids[k] &&
				   x->constants[k].is_null == y->constants[k].is_null);
		for (int32_t k = 0; k < bf_ice_n_deletes(x) && k < bf_ice_n_deletes(y); k++)
		{
			const BfIceDeleteFile *g = bf_ice_delete(x, k), *h = bf_ice_delete(y, k);

			EXPECT(g->kind == h->kind && g->avro == h->avro &&
				   g->sequence_number == h->sequence_number && g->scope == h->scope &&
				   g->vector_offset == h->vector_offset && g->vector_length == h->vector_length &&
				   g->n_equality_ids == h->n_equality_ids &&
				   (g->referenced == NULL) == (h->referenced == NULL));
			for (int32_t e = 0; e < g->n_equality_ids; e++)
				EXPECT(g->equality_fields[e] == h->equality_fields[e]);
		}
	}
	return out;
}

TEST(iceberg_deletes_of_either_format_are_packed)
{
	Build b = {.n = 0};
	BfIceTable *t;
	BfIcePlan *p;
	int32_t n_avro = 0;

	add_data(&b, "d", 0, make_i64(5), 10);
	add_delete(&b, BF_ICE_POSITION_DELETES, "p", 0, make_i64(5), 11);
	add_delete(&b, BF_ICE_POSITION_DELETES, "p-avro", 0, make_i64(5), 12)->format = "AVRO";
	add_delete(&b, BF_ICE_EQUALITY_DELETES, "e-avro", 0, make_i64(5), 12)->format = "AVRO";
	t = build_table(&b);
	REQUIRE(t != NULL);
	REQUIRE_OK(plan(t, NULL, NULL, &p));
	EXPECT_EQ(bf_ice_n_deletes(&p->files[0]), 3);
	for (int32_t i = 0; i < bf_ice_n_deletes(&p->files[0]); i++)
		n_avro += bf_ice_delete(&p->files[0], i)->avro;
	EXPECT_EQ(n_avro, 2);
	(void) packed(t, p);
}

static void
check_random(const Build *b, const BfIcePlan *p)
{
	for (int32_t m = 0; m < b->n; m++)
		for (int32_t i = 0; i < b->manifests[m].n_files && !b->manifests[m].deletes; i++)
		{
			const MakeFile *d = &b->files[m][i];
			const char *name = strrchr(d->path, '/') + 1;
			const char *expected = expected_of(b, d, b->manifests[m].spec_id);

			if (strcmp(expected, deletes_of(p, name)) != 0)
				test_fail(__FILE__, __LINE__, "%s: %s, expected %s", name, deletes_of(p, name),
						  expected);
		}
}

TEST(iceberg_deletes_random)
{
	for (uint32_t round = 0; round < 60; round++)
	{
		Build b = {.n = 0};
		uint32_t n_data = (uint32_t) test_random_below(12),
				 n_deletes = (uint32_t) test_random_below(16);
		BfIceTable *t;
		BfIcePlan *p;

		for (uint32_t i = 0; i < n_data; i++)
		{
			int32_t spec = (int32_t) test_random_below(4);
			MakeFile *f = add_data(&b, bf_arena_printf(test_arena(), "d%02u", i), spec, NULL,
								   1 + (int64_t) test_random_below(6));

			random_value(spec, f);
			if ((uint32_t) test_random_below(4) == 0)
			{
				MakeFile *v =
					add_vector(&b, bf_arena_printf(test_arena(), "v%02u", i),
							   bf_arena_printf(test_arena(), "d%02u", i), spec, f->partition,
							   f->sequence + (int64_t) test_random_below(3));

				v->n_partition = f->n_partition;
			}
		}
		for (int32_t spec = 0; spec < 4; spec++)
			for (uint32_t i = 0; i < n_deletes; i++)
			{
				MakeFile *x;

				if ((uint32_t) test_random_below(4) != 0)
					continue;
				x = add_delete(&b,
							   (uint32_t) test_random_below(2) == 0 ? BF_ICE_POSITION_DELETES
																	: BF_ICE_EQUALITY_DELETES,
							   bf_arena_printf(test_arena(), "x%d-%02u", spec, i), spec, NULL,
							   1 + (int64_t) test_random_below(7));
				random_value(spec, x);
				if (x->content == BF_ICE_POSITION_DELETES && (uint32_t) test_random_below(3) == 0)
					x->referenced = below(
						bf_arena_printf(test_arena(), "d%02u", (uint32_t) test_random_below(14)));
			}
		t = build_table(&b);
		REQUIRE(t != NULL);
		REQUIRE_OK(plan(t, NULL, NULL, &p));
		check_random(&b, p);
		check_random(&b, packed(t, p));
	}
}

/* Many of both in one partition: the plan stays small, since arrays are shared. */
TEST(iceberg_deletes_many)
{
	Build b = {.n = 0};
	BfArena *a = test_arena(), *own = bf_arena_new(test_host(), "plan", (size_t) 64 << 20);
	BfIceScan scan = {.io = NULL};
	BfIceTable *t;
	BfIcePlan *p;
	BfView bytes;
	int64_t pairs = 0;

	for (int32_t i = 0; i < 500; i++)
		add_data(&b, bf_arena_printf(a, "d%03d", i), 2, NULL, 2 * i);
	for (int32_t i = 0; i < 500; i++)
		add_delete(&b, BF_ICE_EQUALITY_DELETES, bf_arena_printf(a, "x%03d", i), 2, NULL, 2 * i + 1);
	b.manifests[0].sequence = b.manifests[1].sequence = 1001;
	t = build_table(&b);
	REQUIRE(t != NULL && own != NULL);
	REQUIRE_OK(bf_ice_at_resolve(t, &(BfIceAt){.kind = BF_ICE_AT_CURRENT}, &scan.point, &test_err));
	REQUIRE_OK(bf_ice_plan_scan(own, t, &scan, &p, &test_err));
	for (int32_t i = 0; i < p->n_files; i++)
		pairs += p->files[i].equality.n;
	EXPECT_EQ(pairs, 500 * 501 / 2);
	EXPECT(bf_arena_bytes(own) < (size_t) 1500 << 10);
	REQUIRE_OK(bf_ice_plan_pack(a, p, &bytes, &test_err));
	EXPECT(bytes.len < 200000);
	EXPECT_EQ(packed(t, p)->files[0].equality.n, 500);
	bf_arena_free(own);
}
