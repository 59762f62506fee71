/*
 * Random lake tables, partitions and predicates on facts, and what they mean row by row: for the
 * tests of scan/ and its fuzz target. Numbers come from a function, so that both can bring their
 * own.
 */
#ifndef TEST_UNIT_TEST_SCAN_MODEL_H
#define TEST_UNIT_TEST_SCAN_MODEL_H

#include <stdio.h>
#include <stdlib.h>

#include "exec/read/kafka_columns.h"
#include "scan/work.h"

#define MODEL_LEDGERS 5
#define MODEL_ENTRIES 48
#define MODEL_PARQUET 4
#define MODEL_FIELDS 2
#define MODEL_FILES (MODEL_PARQUET + MODEL_LEDGERS * 4)

typedef struct ScanModel
{
	uint64_t (*below)(struct ScanModel *m, uint64_t n); /* a number in [0, n) */
	void *arg;
	BfArena *a;
	BfScanPins pins;
	BfScanLedger ledgers[MODEL_LEDGERS];
	BfIcePlan plan;
	BfIceDataFile files[MODEL_FILES];
	struct BfCoverageItem covered[MODEL_LEDGERS];
	struct BfCoverageItem parquet[MODEL_LEDGERS];
	bool wanted[MODEL_LEDGERS][MODEL_ENTRIES]; /* is to be read of the ledger */
	int64_t live;
} ScanModel;

static inline void *
model_alloc(ScanModel *m, size_t n)
{
	void *p = bf_arena_alloc(m->a, n);

	if (p == NULL)
		abort();
	memset(p, 0, n);
	return p;
}

static inline const char *
model_path(ScanModel *m, const char *kind, int64_t n)
{
	char *p = model_alloc(m, 64);

	snprintf(p, 64, "/%s/%lld", kind, (long long) n);
	return p;
}

/* Those of the entries that have the mark, as ranges, not always merged as far as they could be. */
static inline BfRangeSet
model_ranges(ScanModel *m, const bool *has)
{
	BfRangeSet s = {0, model_alloc(m, MODEL_ENTRIES * sizeof(BfRange))};

	for (int32_t e = 0; e < MODEL_ENTRIES; e++)
		if (has[e] && s.n > 0 && s.ranges[s.n - 1].last == e - 1)
			s.ranges[s.n - 1].last = e;
		else if (has[e])
			s.ranges[s.n++] = (BfRange){e, e};
	return s;
}

/* A ledger whose entries are live, named by the lake, or in Parquet (and perhaps still named); some
 * may be lost. */
static inline void
model_ledger(ScanModel *m, int32_t i)
{
	BfScanLedger *l = &m->ledgers[i];
	bool named[4][MODEL_ENTRIES] = {{false}};
	bool covered[MODEL_ENTRIES] = {false};
	bool parquet[MODEL_ENTRIES] = {false};
	bool lost[MODEL_ENTRIES] = {false};
	bool damaged = m->below(m, 4) == 0;
	int n_files = (int) m->below(m, 4);
	bool gone = m->below(m, 6) == 0;

	l->id = (i == 0 ? 0 : l[-1].id + 1) + (int64_t) m->below(m, 3);
	l->end = (int64_t) m->below(m, MODEL_ENTRIES + 1);
	l->tail = (int64_t) m->below(m, (uint64_t) l->end + 1);
	l->entry_bytes = 1 + (int64_t) m->below(m, 3) * 5000000;
	l->place = gone ? BF_SCAN_GONE : (BfScanPlace) m->below(m, 2);
	l->path = gone ? NULL : model_path(m, l->place == BF_SCAN_IN_FILE ? "offload" : "live", l->id);
	for (int64_t e = 0; e < l->end; e++)
	{
		uint64_t state = gone ? 2 : m->below(m, 3);

		covered[e] = parquet[e] = state == 2;
		for (int f = 0; f < n_files; f++)
			named[f][e] = state > 0 && m->below(m, 2) == 0;
		for (int f = 0; f < n_files; f++)
			covered[e] = covered[e] || named[f][e];
		lost[e] = damaged && m->below(m, 3) == 0;
		m->wanted[i][e] = !parquet[e] && !lost[e] && (covered[e] || m->pins.current);
		m->live += m->pins.current && !covered[e] && !lost[e];
	}
	l->lost = model_ranges(m, lost);
	for (int f = 0; f < n_files; f++)
		m->files[m->plan.n_files++] = (BfIceDataFile){
			.logical = true,
			.format = BF_ICE_FORMAT_LOG,
			.path = "bifang://d/t/x.log",
			.log = {.ledger_id = l->id, .ranges = model_ranges(m, named[f])},
		};
	m->covered[i] = (struct BfCoverageItem){l->id, model_ranges(m, covered)};
	m->parquet[i] = (struct BfCoverageItem){l->id, model_ranges(m, parquet)};
}

static inline void
model_lake(ScanModel *m)
{
	int32_t n_parquet = (int32_t) m->below(m, MODEL_PARQUET + 1);

	m->pins.current = m->below(m, 4) > 0;
	m->pins.snapshot_id = -1;
	m->pins.n_ledgers = (int32_t) m->below(m, MODEL_LEDGERS + 1);
	m->pins.ledgers = m->ledgers;
	m->plan.files = m->files;
	for (int32_t i = 0; i < n_parquet; i++)
		m->files[m->plan.n_files++] = (BfIceDataFile){
			.path = model_path(m, "data", i),
			.format = m->below(m, 4) == 0 ? BF_ICE_FORMAT_AVRO : BF_ICE_FORMAT_PARQUET,
			.record_count = (int64_t) m->below(m, 1000),
			.file_size = (int64_t) m->below(m, 200) << 20,
		};
	for (int32_t i = 0; i < m->pins.n_ledgers; i++)
		model_ledger(m, i);
	for (int32_t i = m->plan.n_files - 1; i > 0; i--)
	{
		int32_t k = (int32_t) m->below(m, (uint64_t) i + 1);
		BfIceDataFile f = m->files[i];

		m->files[i] = m->files[k];
		m->files[k] = f;
	}
	m->plan.covered = (BfCoverage){m->pins.n_ledgers, m->covered};
	m->plan.covered_parquet = (BfCoverage){m->pins.n_ledgers, m->parquet};
}

/* ---- predicates ---- */

static inline BfValue
model_value(ScanModel *m, int32_t field)
{
	static const char *const texts[] = {"parquet", "live", "offload", "/live/3", "/data/1", "x"};
	const char *text = texts[m->below(m, sizeof texts / sizeof *texts)];
	BfValue v = {.type = BF_TYPE(INT64), .v.i64 = (int64_t) m->below(m, MODEL_ENTRIES + 4) - 2};

	if (field == MODEL_FIELDS + BF_FACT_TIER || field == MODEL_FIELDS + BF_FACT_FILE)
	{
		v.type = BF_TYPE(STRING);
		v.v.view = (BfView){(const uint8_t *) text, (uint32_t) strlen(text)};
	}
	else if (field > MODEL_FIELDS && m->below(m, 3) > 0)
		v.v.i64 %= 8;
	else if (m->below(m, 20) == 0)
		v.v.i64 = m->below(m, 2) == 0 ? INT64_MAX : INT64_MIN;
	return v;
}

/* `fields`: those that leaves are about. */
static inline BfPred *
model_pred(ScanModel *m, const int32_t *fields, int32_t n_fields, int depth)
{
	BfPred *p = model_alloc(m, sizeof *p);

	p->field = -1;
	if (depth > 0 && m->below(m, 2) == 0)
	{
		p->kind = m->below(m, 2) == 0 ? BF_PRED_AND : BF_PRED_OR;
		p->n_children = (int32_t) m->below(m, 4);
		p->children = model_alloc(m, 4 * sizeof *p->children);
		for (int32_t i = 0; i < p->n_children; i++)
			p->children[i] = model_pred(m, fields, n_fields, depth - 1);
		return p;
	}
	p->kind = (BfPredKind) m->below(m, BF_PRED_AND);
	if (p->kind <= BF_PRED_UNKNOWN)
		return p;
	p->field = fields[m->below(m, (uint64_t) n_fields)];
	p->values = model_alloc(m, 4 * sizeof *p->values);
	p->values[p->n_values++] = model_value(m, p->field);
	if (p->kind == BF_PRED_PREFIX && p->values[0].type.kind != BF_KIND_STRING)
		p->kind = BF_PRED_EQ;
	if (p->kind == BF_PRED_IN || p->kind == BF_PRED_NOT_IN)
	{
		while (p->n_values < 4)
			p->values[p->n_values++] = model_value(m, p->field);
		p->n_values = bf_pred_sort_values(p->values, p->n_values);
	}
	if (p->kind == BF_PRED_IS_NULL || p->kind == BF_PRED_NOT_NULL)
		p->n_values = 0;
	return p;
}

/* What a field is in a row; false: nobody knows. */
typedef bool (*ModelField)(const void *row, int32_t field, BfValue *out);

static inline bool
model_leaf(const BfPred *p, const BfValue *v)
{
	int c = v->is_null || p->n_values == 0 ? 0 : bf_value_compare(v, &p->values[0]);
	bool in = false;

	if (p->kind == BF_PRED_IS_NULL || p->kind == BF_PRED_NOT_NULL)
		return v->is_null == (p->kind == BF_PRED_IS_NULL);
	for (int32_t i = 0; i < p->n_values && !v->is_null; i++)
		in = in || bf_value_compare(v, &p->values[i]) == 0;
	if (v->is_null)
		return false;
	switch (p->kind)
	{
		case BF_PRED_EQ: return c == 0;
		case BF_PRED_NE: return c != 0;
		case BF_PRED_LT: return c < 0;
		case BF_PRED_LE: return c <= 0;
		case BF_PRED_GT: return c > 0;
		case BF_PRED_GE: return c >= 0;
		case BF_PRED_IN: return in;
		case BF_PRED_NOT_IN: return !in;
		case BF_PRED_PREFIX:
			return v->v.view.len >= p->values[0].v.view.len &&
				   memcmp(v->v.view.ptr, p->values[0].v.view.ptr, p->values[0].v.view.len) == 0;
		default: abort();
	}
}

/* Could the row match, whatever the fields that nobody knows are? */
static inline bool
model_possible(const BfPred *p, ModelField field_of, const void *row)
{
	BfValue v = {.type = BF_TYPE(INT64)};

	if (p == NULL || p->kind == BF_PRED_TRUE || p->kind == BF_PRED_UNKNOWN)
		return true;
	if (p->kind == BF_PRED_FALSE)
		return false;
	if (p->kind != BF_PRED_AND && p->kind != BF_PRED_OR)
		return !field_of(row, p->field, &v) || model_leaf(p, &v);
	for (int32_t i = 0; i < p->n_children; i++)
		if (model_possible(p->children[i], field_of, row) == (p->kind == BF_PRED_OR))
			return p->kind == BF_PRED_OR;
	return p->kind == BF_PRED_AND;
}

/* ---- rows of a lake table ---- */

typedef struct ModelRow
{
	int32_t tier;
	const char *path;
	int64_t ledger; /* -1 = a file */
	int64_t number; /* entry, or position in the file */
} ModelRow;

static inline bool
model_fact(const void *arg, int32_t field, BfValue *out)
{
	const ModelRow *r = arg;
	const char *text = r->path;

	switch ((BfFact) (field - MODEL_FIELDS))
	{
		case BF_FACT_LEDGER:
			out->v.i64 = r->ledger;
			out->is_null = r->ledger < 0;
			return true;
		case BF_FACT_ENTRY:
			out->v.i64 = r->number;
			out->is_null = r->ledger < 0;
			return true;
		case BF_FACT_POS:
			out->v.i64 = r->number;
			out->is_null = r->ledger >= 0;
			return true;
		case BF_FACT_TIMESTAMP: out->is_null = true; return r->ledger < 0;
		case BF_FACT_TIER: text = bf_scan_lake_tiers[r->tier].name; /* fallthrough */
		case BF_FACT_FILE:
			out->type = BF_TYPE(STRING);
			out->v.view = (BfView){(const uint8_t *) text, (uint32_t) strlen(text)};
			return true;
		default: return false;
	}
}

/* How often the list reads an entry of a ledger. */
static inline int32_t
model_reads_entry(const BfScanList *l, int64_t ledger, int64_t entry)
{
	int32_t n = 0;

	for (int32_t i = 0; i < l->n_units; i++)
		n += l->units[i].ledger_id == ledger && bf_rangeset_contains(&l->units[i].ranges, entry);
	return n;
}

/* How often it reads each row group of a file of so many; -1: not all of them as often. */
static inline int32_t
model_reads_file(const BfScanList *l, const char *path, int64_t groups)
{
	int32_t reads[64] = {0};

	for (int32_t i = 0; i < l->n_units; i++)
	{
		const BfScanUnit *u = &l->units[i];

		for (int64_t g = groups * u->piece / u->pieces; g < groups * (u->piece + 1) / u->pieces;
			 g++)
			if (u->path == path)
				reads[g]++;
	}
	for (int64_t g = 1; g < groups; g++)
		if (reads[g] != reads[0])
			return -1;
	return reads[0];
}

/* What must hold of a list over the model's table: whatever can match is read once, nothing else
 * that is not there. Returns what does not hold, NULL = all does. */
static inline const char *
model_check_lake(const ScanModel *m, const BfScanList *l)
{
	for (int32_t i = 0; i < m->pins.n_ledgers; i++)
		for (int64_t e = 0; e < MODEL_ENTRIES; e++)
		{
			const BfScanLedger *ledger = &m->ledgers[i];
			ModelRow row = {ledger->place == BF_SCAN_IN_FILE ? BF_SCAN_OFFLOAD : BF_SCAN_LIVE,
							ledger->path, ledger->id, e};
			int32_t n = model_reads_entry(l, ledger->id, e);

			if (n > 1)
				return "an entry is read twice";
			if (n > 0 && !m->wanted[i][e])
				return "an entry is read that does not count";
			if (n == 0 && m->wanted[i][e] && model_possible(l->pred, model_fact, &row))
				return "an entry that could match is not read";
		}
	for (int32_t i = 0; i < m->plan.n_files; i++)
	{
		const BfIceDataFile *f = &m->files[i];
		bool possible = l->pred == NULL;

		if (f->logical)
			continue;
		for (int64_t pos = 0; pos < f->record_count && !possible; pos++)
			possible =
				model_possible(l->pred, model_fact, &(ModelRow){BF_SCAN_PARQUET, f->path, -1, pos});
		for (int64_t groups = 1; groups < 64; groups = groups * 3 + 1)
		{
			int32_t n = model_reads_file(l, f->path, groups);

			if (n < 0 || n > 1)
				return "a row group is read twice or not at all";
			if (n == 0 && possible)
				return "a file that could match is not read";
		}
	}
	return NULL;
}

#endif
