-- Files of other writers. Their twins come from values/, see the README there; run.sh puts them in before generic_schema.
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
INSERT INTO diff.refused VALUES ('files.lists_101', '54000'), ('files.structs_120', '54000'), ('files.damaged', 'XX001'), ('files.int96_from_spark', '22008');
SELECT 'tables of others: ' || count(*) FROM pg_class WHERE relkind = 'f' AND relnamespace IN ('files'::regnamespace, 'lakes'::regnamespace, 'topics'::regnamespace);
