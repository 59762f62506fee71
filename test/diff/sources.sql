-- Files of other writers: those that are always there, and those of a corpus.
\set ON_ERROR_STOP 0
CREATE SCHEMA files; CREATE SCHEMA lakes; CREATE SCHEMA topics;
\getenv data BIFANG_TEST_DATA
\set where :data '/boundaries/*.parquet'
IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO files OPTIONS (format 'parquet', location :'where');
\set where :data '/parquet_prune/*.parquet'
IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO files OPTIONS (format 'parquet', location :'where');
\set where :data '/parquet_encodings/*.parquet'
IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO files OPTIONS (format 'parquet', location :'where');
\set where :data '/parquet_nested/*.parquet'
IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO files OPTIONS (format 'parquet', location :'where');
\set where :data '/parquet/*.parquet'
IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO files OPTIONS (format 'parquet', location :'where');
\set where :data '/types/*'
IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO lakes OPTIONS (location :'where');
\set where :data '/spark/*'
IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO lakes OPTIONS (location :'where');
\set where :data '/shop/*'
IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO lakes OPTIONS (location :'where');
\set where :data '/kafka/*'
IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO topics OPTIONS (format 'kafka_log', location :'where');
\getenv corpus BIFANG_CORPUS
SELECT :'corpus' IS NOT NULL AND :'corpus' <> '' AS has_corpus \gset
\if :has_corpus
CREATE SCHEMA spark;
\set where :corpus '/spark/t/*'
IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO spark OPTIONS (location :'where');
\endif
\set ON_ERROR_STOP 1
SELECT 'tables of others: ' || count(*) FROM pg_class WHERE relkind = 'f' AND relnamespace IN ('files'::regnamespace, 'lakes'::regnamespace, 'topics'::regnamespace);
SELECT diff.generic_schema('files', :n);
SELECT diff.generic_schema('lakes', :n);
SELECT diff.generic_schema('topics', :n);
\if :has_corpus
SELECT diff.generic_schema('spark', :n);
\endif
