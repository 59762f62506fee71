# Wrote ../data/transforms.tar.gz with PyIceberg 0.12: Iceberg tables of every type x partition transform, and for each
# type one whose partition spec changed with every append. make_transforms.py DIRECTORY
#
#   <type>_<transform>/     columns id, v, w (another value), s (the spec of the row's append: its number in `specs`)
#   <type>_evolved/         one append per spec: none, identity, every other transform, void
#   constants.tsv           type, SQL type, "value" (rows have it) or "other", literal, number in bucket(4)
#   specs.tsv               table, number, transform
# Bucket numbers are PyIceberg's, so that the test has them from somebody else.
import datetime as dt, decimal, os, random, shutil, sys, uuid
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import (BucketTransform, DayTransform, HourTransform, IdentityTransform, MonthTransform,
	TruncateTransform, VoidTransform, YearTransform)
from pyiceberg.types import (BinaryType, BooleanType, DateType, DecimalType, DoubleType, FloatType, IntegerType, LongType,
	NestedField, StringType, TimestampType, TimestamptzType, TimeType, UUIDType)

random.seed(11)
D = decimal.Decimal
UTC = dt.timezone.utc
at = dt.datetime
inst = [at(1970, 1, 1), at(1969, 12, 31, 23, 59, 59, 999999), at(1970, 1, 1, 0, 0, 0, 1), at(1969, 12, 31), at(1968, 12, 31, 23, 59, 59, 999999),
	at(2000, 2, 29, 12), at(2024, 2, 29, 23, 59, 59, 999999), at(2024, 3, 1), at(2024, 3, 10, 7), at(1, 1, 1), at(9999, 12, 31, 23, 59, 59, 999999)]
inst_others = [at(1970, 1, 1, 0, 0, 0, 2), at(1969, 12, 31, 22), at(2024, 3, 10, 3), at(2023, 12, 31), at(4000, 1, 1)]
dates = [dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 2), dt.date(1969, 1, 1), dt.date(1968, 12, 31), dt.date(2000, 2, 29),
	dt.date(2024, 2, 29), dt.date(2024, 3, 1), dt.date(2025, 1, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31)]
date_others = [dt.date(1970, 1, 3), dt.date(2024, 2, 28), dt.date(2023, 12, 31), dt.date(4000, 1, 1)]
long = 'abcdefghijklmnopqrstuvwxyz'
bucket, trunc = BucketTransform(4), TruncateTransform
times = [YearTransform(), MonthTransform(), DayTransform()]
nan, inf = float('nan'), float('inf')
# SQL type, Iceberg type, values, other constants, transforms beside none and identity
types = {
	'boolean': ('boolean', BooleanType(), [True, False], [], []),
	'int': ('integer', IntegerType(), [0, 1, -1, 2**31 - 1, -2**31, 7, 10, -10, -9, 11, 99, 100], [2, -2, 2**31 - 2, 101], [bucket, trunc(10)]),
	'long': ('bigint', LongType(), [0, 1, -1, 2**63 - 1, -2**63, 2**53 + 1, -2**53 - 1, 10, -10, 99, 2**32], [2, -2, 2**53, 2**63 - 2], [bucket, trunc(10)]),
	'float': ('real', FloatType(), [0.0, -0.0, 1.0, -1.0, nan, inf, -inf, 0.5, 1.5, 3.4028234663852886e38], [2.0, 0.25], []),
	'double': ('double precision', DoubleType(), [0.0, -0.0, 1.0, -1.0, nan, inf, -inf, 0.1, 1.5, 5e-324], [2.0, 0.2], []),
	'decimal9': ('numeric(9,2)', DecimalType(9, 2), [D(x) for x in '0.00 0.01 -0.01 9999999.99 -9999999.99 1.50 10.00 -10.00 100.10 0.99'.split()], [D('1.00'), D('99.99')], [bucket, trunc(50)]),
	'decimal18': ('numeric(18,4)', DecimalType(18, 4), [D(x) for x in '0.0000 0.0001 -0.0001 99999999999999.9999 -99999999999999.9999 1.5000 10.0000 -10.0000'.split()], [D('1.0000')], [bucket, trunc(10)]),
	'decimal38': ('numeric(38,10)', DecimalType(38, 10), [D('0E-10'), D('1E-10'), D('-1E-10'), D('9' * 28 + '.' + '9' * 10), D('-' + '9' * 28 + '.' + '9' * 10), D('1.5000000000')], [D('2.0000000000'), D('9223372036854775808.0000000000')], [bucket, trunc(10)]),
	'date': ('date', DateType(), dates, date_others, [bucket, *times]),
	'time': ('time', TimeType(), [dt.time(0), dt.time(0, 0, 0, 1), dt.time(12), dt.time(23, 59, 59, 999999), dt.time(12, 34, 56, 789000)], [dt.time(11, 59, 59)], [bucket]),
	'timestamp': ('timestamp', TimestampType(), inst, inst_others, [bucket, *times, HourTransform()]),
	'timestamptz': ('timestamptz', TimestamptzType(), [i.replace(tzinfo=UTC) for i in inst], [i.replace(tzinfo=UTC) for i in inst_others], [bucket, *times, HourTransform()]),
	'string': ('text', StringType(), ['', 'a', 'aa', 'abc', 'abd', 'B', ' ', 'a%', 'é', '\U0010ffff', 'abc\U0010ffff', long, long + '1', '€uro', 'z' * 40], ['ab', 'abcd', 'zz', 'c'], [bucket, trunc(3), trunc(1)]),
	'binary': ('bytea', BinaryType(), [b'', b'\0', b'\0\0', b'\xff', b'\xff\xff', b'a', b'abc', b'\xff' * 18, b'\x80'], [b'\x01', b'\xfe', b'ab'], [bucket, trunc(2)]),
	'uuid': ('uuid', UUIDType(), [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1), uuid.UUID('7fffffff-ffff-ffff-ffff-ffffffffffff'), uuid.UUID(int=2**127), uuid.UUID('f79c3e09-677c-4bbd-a479-3f349cb785e7')], [uuid.UUID('01000000-0000-0000-0000-000000000000')], [bucket]),
}


def literal(v):
	if isinstance(v, bool): return str(v).lower()
	if isinstance(v, float): return 'NaN' if v != v else 'Infinity' if v == inf else '-Infinity' if v == -inf else repr(v)
	if isinstance(v, bytes): return '\\x' + v.hex()
	if isinstance(v, dt.datetime): return f'{v.year:04}' + v.isoformat(' ')[4:]
	if isinstance(v, dt.date): return f'{v.year:04}' + v.isoformat()[4:]
	return str(v)


def number_of_bucket(iceberg, v):
	if isinstance(v, dt.datetime): v = (v.replace(tzinfo=None) - at(1970, 1, 1)) // dt.timedelta(microseconds=1)
	elif isinstance(v, dt.date): v = (v - dt.date(1970, 1, 1)).days
	elif isinstance(v, dt.time): v = ((v.hour * 60 + v.minute) * 60 + v.second) * 1000000 + v.microsecond
	elif isinstance(v, uuid.UUID): v = v.bytes
	return bucket.transform(iceberg)(v)


def arrow(iceberg, values):
	if isinstance(iceberg, UUIDType): return pa.array([v and v.bytes for v in values], pa.binary(16)).cast(pa.uuid())
	from pyiceberg.io.pyarrow import schema_to_pyarrow
	return pa.array(values, schema_to_pyarrow(iceberg))


def name_of(t):
	return str(t).replace('[', '_').replace(']', '') if t is not None else 'none'


out = os.path.abspath(sys.argv[1])
shutil.rmtree(out, ignore_errors=True)
os.makedirs(out)
os.makedirs(out + '.work', exist_ok=True)
catalog = SqlCatalog('x', uri=f'sqlite:///{out}.work/catalog.db', warehouse='file://' + out)
catalog.create_namespace_if_not_exists('t')
constants, specs = open(f'{out}/constants.tsv', 'w'), open(f'{out}/specs.tsv', 'w')
last = 0


# PyIceberg can't partition by NaN, or truncate a decimal to one that has a digit more.
def append(table, iceberg, values, spec, transform=None):
	global last
	if isinstance(transform, IdentityTransform): values = [v for v in values if v == v]
	if isinstance(transform, TruncateTransform) and isinstance(values[0], D): values = [v for v in values if -10**6 < v]
	rows = random.sample(values, min(len(values), 9)) + [None]
	w = [random.choice(values) for _ in rows]
	ids = list(range(last, last + len(rows)))
	last += len(rows)
	table.append(pa.table({'id': pa.array(ids, pa.int32()), 'v': arrow(iceberg, rows), 'w': arrow(iceberg, w),
		's': pa.array([spec] * len(rows), pa.int32())}))


def create(name, iceberg, transform):
	schema = Schema(NestedField(1, 'id', IntegerType()), NestedField(2, 'v', iceberg), NestedField(3, 'w', iceberg), NestedField(4, 's', IntegerType()))
	spec = PartitionSpec() if transform is None else PartitionSpec(PartitionField(2, 1000, transform, 'p'))
	properties = {'write.parquet.compression-codec': 'zstd', 'write.object-storage.enabled': 'false'}
	return catalog.create_table(f't.{name}', schema, location=f'file://{out}/{name}', partition_spec=spec, properties=properties)


# Only the newest metadata file counts, and the lists of snapshots before it are nobody's.
def tidy(name, table):
	here = os.path.basename(table.metadata_location)
	keep = {os.path.basename(table.current_snapshot().manifest_list), here} | {os.path.basename(m.manifest_path) for m in table.current_snapshot().manifests(table.io)}
	for f in os.listdir(f'{out}/{name}/metadata'):
		if f not in keep: os.unlink(f'{out}/{name}/metadata/{f}')
	os.rename(f'{out}/{name}/metadata/{here}', f'{out}/{name}/metadata/v1.metadata.json')


for kind, (sql, iceberg, values, others, transforms) in types.items():
	for group, list_ in (('value', values), ('other', others)):
		for v in list_:
			b = number_of_bucket(iceberg, v) if bucket in transforms else ''
			constants.write(f'{kind}\t{sql}\t{group}\t{literal(v)}\t{b}\n')
	every = [None, IdentityTransform(), *transforms]
	for t in every:
		name = f'{kind}_{name_of(t)}'
		last = 0
		try:
			table = create(name, iceberg, t)
			append(table, iceberg, values, 0, t)
			append(table, iceberg, values, 0, t)
			tidy(name, table)
			specs.write(f'{name}\t0\t{t}\n')
		except Exception as e:
			print('left out:', name, repr(e)[:160])
			shutil.rmtree(f'{out}/{name}', ignore_errors=True)
			every = [x for x in every if x is not t]
	name, last = f'{kind}_evolved', 0
	table = create(name, iceberg, None)
	append(table, iceberg, values, 0)
	for i, t in enumerate([*every[1:], VoidTransform()]):
		with table.update_spec() as u:
			for f in table.spec().fields: u.remove_field(f.name)
			if not isinstance(t, VoidTransform): u.add_field('v', t, f'p{i}')
		append(table, iceberg, values, i + 1, t)
		specs.write(f'{name}\t{i + 1}\t{t}\n')
	tidy(name, table)
