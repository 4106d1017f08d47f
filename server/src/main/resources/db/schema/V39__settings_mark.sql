-- For the engine's one poll of due work: another text after each change of the settings that nodes keep in memory, which are limits, prices,
-- rules about versions, and servers and tools of MCP. A mere look at the tools of an MCP server is no change.
create or replace function keelson_settings_mark() returns text language sql stable as $$
    select concat_ws(' ',
        (select sum(hashtextextended(l::text, 0)) from workspace_limits l),
        (select sum(hashtextextended(p::text, 1)) from prices p),
        (select sum(hashtextextended(v::text, 2)) from tool_versions v),
        (select sum(hashtextextended(concat(s.workspace_id, ' ', s.name, ' ', s.revision, ' ', s.created_at, s.error), 3))
           from mcp_servers s),
        (select sum(hashtextextended(concat(t.workspace_id, ' ', t.server, ' ', t.name, ' ', t.xmin), 4)) from mcp_tools t))
$$;
