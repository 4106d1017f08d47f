-- Within a statement: what must not be ends the transaction under a code of its own. It returns nothing, and is cast to what
-- its place asks for.
create or replace function keelson_refuse(code text, why text) returns text language plpgsql as $$
begin
    raise exception '%', why using errcode = code;
end $$;
-- keelson_balance_too_low stays for servers of the version before.
