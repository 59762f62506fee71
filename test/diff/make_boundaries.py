# Wrote ../data/boundaries with PyArrow 26: boundary values of every type in pages of 16 rows, with page index and
# bloom filters. make_boundaries.py DIRECTORY
import sys
import pyarrow as pa, pyarrow.parquet as pq, datetime as dt, decimal, random, uuid
random.seed(7)
N=480
D=decimal.Decimal
UTC=dt.timezone.utc
def us(*a): return dt.datetime(*a)
inst=[us(1970,1,1),us(1969,12,31,23,59,59,999999),us(1970,1,1,0,0,0,1),us(1969,12,31),us(1968,12,31,23,59,59,999999),us(2000,2,29,12),us(2024,2,29,23,59,59,999999),us(2024,3,1),us(2024,3,10,2,30),us(2024,3,10,7),us(1,1,1),us(9999,12,31,23,59,59,999999),us(1900,1,1,1)]
dates=[dt.date(1970,1,1),dt.date(1969,12,31),dt.date(1970,1,2),dt.date(1969,1,1),dt.date(1968,12,31),dt.date(2000,2,29),dt.date(2024,2,29),dt.date(2024,3,1),dt.date(1,1,1),dt.date(9999,12,31)]
long='abcdefghijklmnopqrstuvwxyz'*3
texts=['','a','aa','ab','abc','abd','b','B','A','ABC',' ','a ','a%','a_b','a\\b','%','_','é','e\u0301','ÿ','\U0010ffff','abc\U0010ffff',long,long+'1',long+'2','€uro','z'*70,'1','null','a\tb']
nan=float('nan'); inf=float('inf')
cols={
 'b':(pa.bool_(),[True,False]),
 'i8':(pa.int8(),[0,1,-1,127,-128]),
 'u8':(pa.uint8(),[0,1,127,128,255]),
 'i16':(pa.int16(),[0,1,-1,32767,-32768]),
 'u32':(pa.uint32(),[0,1,2147483647,2147483648,4294967295]),
 'u64':(pa.uint64(),[0,1,2**63-1,2**63,2**64-1]),
 'i32':(pa.int32(),[0,1,-1,2147483647,-2147483648,7,10,-10,99,100]),
 'i64':(pa.int64(),[0,1,-1,2**63-1,-2**63,9007199254740993,-9007199254740993,10,-10]),
 'f16':(pa.float16(),[0.0,-0.0,1.0,-1.0,nan,inf,-inf,0.5]),
 'f32':(pa.float32(),[0.0,-0.0,1.0,-1.0,nan,inf,-inf,0.1,3.4028234663852886e38,1e-45]),
 'f64':(pa.float64(),[0.0,-0.0,1.0,-1.0,nan,inf,-inf,0.1,1.7976931348623157e308,5e-324]),
 'n9_2':(pa.decimal128(9,2),[D('0.00'),D('0.01'),D('-0.01'),D('9999999.99'),D('-9999999.99'),D('10.00'),D('-10.00'),D('1.50')]),
 'n18_4':(pa.decimal128(18,4),[D('0.0000'),D('0.0001'),D('-0.0001'),D('99999999999999.9999'),D('-99999999999999.9999'),D('1.5000')]),
 'n38_10':(pa.decimal128(38,10),[D('0E-10'),D('1E-10'),D('-1E-10'),D('9'*28+'.'+'9'*10),D('-'+'9'*28+'.'+'9'*10),D('1.5000000000')]),
 'd':(pa.date32(),dates),
 't':(pa.time64('us'),[dt.time(0),dt.time(0,0,0,1),dt.time(12),dt.time(23,59,59,999999)]),
 'ts':(pa.timestamp('us'),inst),
 'ts_ms':(pa.timestamp('ms'),[i.replace(microsecond=i.microsecond//1000*1000) for i in inst]),
 'tz':(pa.timestamp('us','UTC'),[i.replace(tzinfo=UTC) for i in inst]),
 's':(pa.string(),texts),
 'y':(pa.binary(),[b'',b'\0',b'\0\0',b'\xff',b'\xff\xff',b'a',b'ab',b'abc',b'\xff'*18,b'\x7f',b'\x80']),
 'u':(pa.binary(16),[bytes(16),b'\xff'*16,b'\x7f'+b'\xff'*15,b'\x80'+bytes(15),uuid.UUID('f79c3e09-677c-4bbd-a479-3f349cb785e7').bytes]),
}
key={'f16':lambda x:(1,0) if x!=x else (0,x),'f32':lambda x:(1,0) if x!=x else (0,x),'f64':lambda x:(1,0) if x!=x else (0,x),'s':lambda x:x.encode()}
def column(name,typ,vals,sort):
    out=[random.choice(vals) for _ in range(N)]
    for i,v in enumerate(vals): out[random.randrange(N)]=v
    if sort: out.sort(key=key.get(name,lambda x:x))
    for i in range(N):
        if random.random()<0.06: out[i]=None
    for p in (3,11): # pages of NULLs only
        for i in range(p*16,p*16+16): out[i]=None
    if name in('f32','f64'): # a page of NaN only
        for i in range(20*16,20*16+16): out[i]=nan
    return pa.array(out,type=typ)
for fname,sort,kw in [
  ('sorted',True,dict(use_dictionary=False,data_page_version='2.0',compression='zstd')),
  ('random',False,dict(use_dictionary=True,data_page_version='1.0',compression='snappy'))]:
    t=pa.table({'id':pa.array(range(N),pa.int32()),**{n:column(n,ty,v,sort) for n,(ty,v) in cols.items()}})
    bloom={n:{'ndv':60,'fpp':0.01} for n in t.column_names if n not in('b','f16')}
    pq.write_table(t,f'{sys.argv[1]}/{fname}.parquet',row_group_size=160,max_rows_per_page=16,write_batch_size=16,write_page_index=True,bloom_filter_options=bloom,store_schema=False,**kw)
    m = pq.read_metadata(f'{sys.argv[1]}/{fname}.parquet')
    print(m)
