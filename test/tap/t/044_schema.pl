# The extension's schema: what others own there, or could put there, is never called for the extension's.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = PostgreSQL::Test::Cluster->new('schema');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE nobody LOGIN; CREATE ROLE "some one"; CREATE ROLE boss SUPERUSER LOGIN');

my $db;
sub fresh
{
	$db = $_[0];
	$node->safe_psql('postgres', "CREATE DATABASE $db; GRANT CREATE ON DATABASE $db TO nobody");
	return;
}
sub in { return $node->safe_psql($db, $_[0]); }

# What comes out, or the error, all of it.
sub out
{
	my ($out, $err);

	$node->psql($db, $_[0], stdout => \$out, stderr => \$err);
	return $out . $err;
}

# Better matches than what the scripts, views and functions mean; each says who calls it.
my $better = q{
	CREATE SEQUENCE bifang.called;
	CREATE FUNCTION bifang.better(text, varchar) RETURNS boolean LANGUAGE sql AS $$SELECT nextval('bifang.called') > 0$$;
	CREATE FUNCTION bifang.better(varchar, text) RETURNS boolean LANGUAGE sql AS $$SELECT nextval('bifang.called') > 0$$;
	CREATE FUNCTION bifang.better(name, varchar) RETURNS boolean LANGUAGE sql AS $$SELECT nextval('bifang.called') > 0$$;
	CREATE OPERATOR bifang.= (FUNCTION = bifang.better, LEFTARG = text, RIGHTARG = varchar);
	CREATE OPERATOR bifang.= (FUNCTION = bifang.better, LEFTARG = varchar, RIGHTARG = text);
	CREATE OPERATOR bifang.= (FUNCTION = bifang.better, LEFTARG = name, RIGHTARG = varchar);
	CREATE FUNCTION bifang.concat_ws(text, text, oid, oid) RETURNS text LANGUAGE sql AS $$SELECT nextval('bifang.called')::text$$;
	CREATE FUNCTION bifang.starts_with(text, varchar) RETURNS boolean LANGUAGE sql AS $$SELECT nextval('bifang.called') > 0$$;
};
my $members = q{SELECT count(*) FROM pg_depend d JOIN pg_operator o ON d.refobjid = o.oid AND d.refclassid = 'pg_operator'::regclass WHERE o.oprnamespace = 'bifang'::regnamespace AND d.classid = 'pg_rewrite'::regclass};

# Somebody was there first.
fresh('first');
in('SET ROLE nobody; CREATE SCHEMA bifang; CREATE FUNCTION bifang.commit(text) RETURNS int LANGUAGE sql AS $$SELECT 1$$');
like(out('CREATE EXTENSION bifang_fdw'), qr/ERROR:  schema "bifang" belongs to role "nobody".*HINT:  ALTER SCHEMA bifang OWNER/s, 'a schema of somebody else is refused');
is(in("SELECT count(*) FROM pg_extension WHERE extname = 'bifang_fdw'"), '0', 'and nothing is there');
in('ALTER SCHEMA bifang OWNER TO CURRENT_USER');
like(out('CREATE EXTENSION bifang_fdw'), qr/ERROR:  schema "bifang" has function commit of role "nobody".*HINT:  Drop it/s, 'and so is what he put into it');
in('DROP FUNCTION bifang.commit(text); CREATE FUNCTION bifang.f(text, text) RETURNS bool LANGUAGE sql AS $$SELECT true$$; CREATE OPERATOR bifang.<<< (FUNCTION = bifang.f, LEFTARG = text, RIGHTARG = text); ALTER OPERATOR bifang.<<< (text, text) OWNER TO nobody')
	if in('GRANT CREATE ON SCHEMA bifang TO nobody') eq '';
like(out('CREATE EXTENSION bifang_fdw'), qr/ERROR:  schema "bifang" has operator <<< of role "nobody"/, 'operators, too');
in('DROP OPERATOR bifang.<<< (text, text)');

# One that waits with it.
my $waiting = $node->background_psql($db);
$waiting->query_safe('SET ROLE nobody; BEGIN; CREATE FUNCTION bifang.commit(text) RETURNS int LANGUAGE sql AS $$SELECT 1$$');
like(out('CREATE EXTENSION bifang_fdw'), qr/ERROR:  schema "bifang" has function commit of role "nobody"/, 'of a transaction that is open as well');
$waiting->query_safe('ROLLBACK');
$waiting->quit;

# Who may create there may not any more; what a superuser has put there is his own affair, and not called all the same.
in('GRANT CREATE ON SCHEMA bifang TO PUBLIC; GRANT CREATE ON SCHEMA bifang TO "some one" WITH GRANT OPTION; SET ROLE "some one"; GRANT CREATE ON SCHEMA bifang TO nobody; RESET ROLE; GRANT CREATE, USAGE ON SCHEMA bifang TO boss');
in($better);
my $said = out('CREATE EXTENSION bifang_fdw');
like($said, qr/WARNING:  (?=.*PUBLIC)(?=.*"some one").* may no longer create in schema "bifang"/, 'who may create there is told of');
is(in(q{SELECT string_agg(rolname, ' ') FROM pg_roles WHERE has_schema_privilege(oid, 'bifang', 'CREATE') AND NOT rolsuper}), '', 'and may no longer');
is(in(q{SELECT count(*) FROM pg_namespace, aclexplode(nspacl) a WHERE nspname = 'bifang' AND a.grantee = 'boss'::regrole}), '2', 'superusers\' grants stay');
is(in($members), '0', 'no view has an operator of the schema');
in(q{CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw; CREATE FOREIGN TABLE t (i int) SERVER lake; INSERT INTO t VALUES (1); SET search_path = pg_catalog, bifang, public;
	SELECT * FROM bifang.tables; SELECT * FROM bifang.ledgers; SELECT * FROM bifang.lag; SELECT * FROM bifang.jobs; SELECT * FROM bifang.progress; SELECT * FROM bifang.check(); SELECT * FROM bifang.check('t');
	SELECT bifang.commit('t'), bifang.roll('t'), bifang.offload('t')});
is(in('SELECT is_called FROM bifang.called'), 'f', 'none of all that calls what matches better');

# The schema is the extension's again after it was dropped and made, and in a dump.
in('DROP EXTENSION bifang_fdw CASCADE; DROP SEQUENCE bifang.called CASCADE');
like(out('CREATE EXTENSION bifang_fdw'), qr/^$/, 'a schema that has been there is good enough');
$node->command_ok([ 'pg_dump', '-Fc', '-f', $node->backup_dir . '.dump', 'first' ], 'pg_dump');
fresh('restored');
$node->command_ok([ 'pg_restore', '-e', '-U', 'boss', '-d', 'restored', $node->backup_dir . '.dump' ], 'a dump is restored by another superuser');
is(in("SELECT n.nspowner::regrole, e.extowner::regrole FROM pg_namespace n, pg_extension e WHERE n.nspname = 'bifang' AND e.extname = 'bifang_fdw'"),
	$node->safe_psql('first', 'SELECT CURRENT_USER') . '|boss', 'whose schema is not his');

# Default privileges.
fresh('defaults');
in('ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO "some one"; ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC');
like(out('CREATE EXTENSION bifang_fdw'), qr/^psql:<stdin>:1: WARNING:  "some one" may no longer create in schema "bifang"$/, 'default privileges are no hindrance');
is(in(q{SELECT has_schema_privilege('some one', 'bifang', 'CREATE'), has_schema_privilege('some one', 'bifang', 'USAGE'), has_table_privilege('nobody', 'bifang.ledger', 'SELECT')}), 'f|t|f', 'and end where it must');

# An extension that is 0.1 in a schema of somebody else.
fresh('older');
in(q{SET ROLE nobody; CREATE SCHEMA bifang; RESET ROLE; CREATE EXTENSION bifang_fdw VERSION '0.1'});
like(out('ALTER EXTENSION bifang_fdw UPDATE'), qr/ERROR:  schema "bifang" belongs to role "nobody"/, 'is not updated');
in('ALTER SCHEMA bifang OWNER TO CURRENT_USER; ' . $better);
in(q{CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw; INSERT INTO bifang.iceberg_tables (catalog_name, table_namespace, table_name) VALUES ('lake', 'a', 'b')});
like(out('ALTER EXTENSION bifang_fdw UPDATE'), qr/^$/, 'until it is a superuser\'s');
is(in('SELECT is_called FROM bifang.called') . in($members), 'f0', 'the update calls nothing of others');
is(in('SELECT catalog_name, server_name FROM bifang.catalog'), 'lake|lake', 'and does what it should');
is(in("SELECT extversion FROM pg_extension WHERE extname = 'bifang_fdw'"), '0.2', 'the newest version');

done_testing();
