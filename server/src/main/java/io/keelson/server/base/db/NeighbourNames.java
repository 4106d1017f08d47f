package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Names that Keelson's own tables, views, indexes and sequences need. PostgreSQL keeps the names of indexes and sequences when a
 * table is renamed, and {@code create index if not exists} is silent about a name that another table's index has. A table
 * that is moved to another schema takes them along.
 */
final class NeighbourNames {

    static final String OWN_TABLES =
            "archive_deletions archive_objects archived_files archived_runs restored_runs call_waits mcp_servers mcp_tools session_links sessions artifact_uploads artifacts artifact_reservations billing_ledger bulk_jobs"
                    + " credit_months credit_slots status_document_progress engine_nodes engine_outages database_losses escalation_tickets event_exports federated_identities federated_sessions gateway_requests gateway_tokens"
                    + " execution_commands former_secrets idempotency_cache inbox_assignments installation_backups live_texts operator_audit"
                    + " approval_rules approval_votes orchestration_runs"
                    + " orchestration_task_dependencies orchestration_tasks simulated_effects prices principals proposals"
                    + " recipe_versions result_cache result_waits run_agents run_attempts run_children run_event_packs run_event_packs_archive run_heads"
                    + " run_parents run_plans run_signals run_tool_versions run_undos"
                    + " saved_views schedule_ticks schedules secrets sign_in_states step_logs step_progress step_results task_budgets task_rounds task_steps timers tool_versions triggers trigger_deliveries trigger_feed trigger_replays upload_slots"
                    + " event_watermark webhook_deliveries webhook_endpoints webhook_feed work_messages work_queue work_rates workers workspace_limits";

    static final String OWN_VIEWS =
            "credit_balances free_usage inbox_questions open_questions orchestration_event_feed orchestration_events orchestration_events_archive"
                    + " orchestration_events_kept orchestration_steps run_event_packs_kept run_origins step_tasks work_results";

    /** Indexes that a migration or {@link SharedIndexes} names. PostgreSQL finds names for all others. */
    static final String OWN_INDEXES =
            "ix_archive_objects_workspace ix_archived_files_expires ix_archived_files_run ix_archived_files_workspace"
                    + " ix_archived_runs_completed ix_archived_runs_created ix_archived_runs_object ix_archived_runs_parent"
                    + " ix_archived_runs_parts ix_archived_runs_reads ix_orch_runs_forked uq_archived_runs_external"
                    + " ix_call_waits_asked ix_call_waits_run ix_call_waits_since ix_session_links_key ix_sessions_key ix_sessions_workspace ix_agent_reports_orch_task ix_agent_reports_ws ix_api_keys_principal"
                    + " ix_api_keys_workspace ix_artifact_uploads_created ix_artifact_uploads_key"
                    + " ix_artifact_uploads_workspace ix_artifact_reservations_workspace ix_artifacts_deleted"
                    + " ix_artifacts_expires ix_artifacts_kept ix_artifacts_open ix_billing_ledger_created"
                    + " ix_billing_ledger_run ix_board_tasks_agent ix_board_tasks_column ix_board_tasks_parent"
                    + " ix_bulk_jobs_wake ix_bulk_jobs_workspace ix_engine_outages_to ix_escalation_tickets_open"
                    + " ix_escalation_tickets_run ix_escalation_tickets_workspace ix_event_exports_key"
                    + " ix_event_exports_workspace ix_execution_commands_list ix_execution_commands_run"
                    + " ix_execution_commands_type ix_execution_commands_wake ix_federated_identities_key ix_federated_sessions_refresh ix_federated_sessions_subject ix_federated_sessions_workspace ix_former_secrets_name"
                    + " ix_former_secrets_replaced ix_gateway_requests_k1 ix_gateway_requests_k2 ix_gateway_requests_open ix_gateway_requests_run ix_gateway_requests_step ix_gateway_tokens_run ix_gateway_tokens_step ix_idempotency_cache_expires ix_inbox_assignments_assignee"
                    + " ix_inbox_assignments_run ix_operator_audit_workspace ix_orch_deps_reverse"
                    + " ix_orch_events_archive_run ix_orch_events_created ix_orch_events_run ix_orch_runs_active"
                    + " ix_orch_runs_concurrency ix_orch_runs_coordinator ix_orch_runs_created_by"
                    + " ix_orch_runs_ended_badly ix_orch_runs_paused ix_orch_runs_ws_created ix_orch_steps_task"
                    + " ix_orch_tasks_agent ix_orch_tasks_board ix_orch_tasks_run ix_simulated_effects_workspace"
                    + " ix_step_results_free ix_task_rounds_task"
                    + " ix_proposals_pending ix_result_cache_expires ix_result_waits_since ix_result_waits_source ix_proposals_run ix_proposals_workspace ix_run_children_run"
                    + " ix_run_parents_parent ix_schedule_ticks_at_work ix_schedule_ticks_open"
                    + " ix_schedules_recipe ix_schedules_wake ix_timers_due ix_timers_human ix_timers_run"
                    + " ix_trigger_deliveries_dead ix_trigger_deliveries_decided ix_trigger_deliveries_due ix_trigger_deliveries_group ix_trigger_deliveries_list"
                    + " ix_trigger_deliveries_rate ix_trigger_deliveries_rate_line ix_trigger_deliveries_single"
                    + " ix_trigger_deliveries_single_line ix_trigger_deliveries_turn ix_trigger_deliveries_workspace ix_trigger_replays_trigger ix_trigger_replays_workspace ix_triggers_recipe ix_triggers_run_ends"
                    + " ix_webhook_deliveries_completed ix_webhook_deliveries_list ix_webhook_deliveries_pending"
                    + " ix_webhook_endpoints_due ix_webhook_endpoints_workspace ix_work_messages_due ix_work_queue_deadline"
                    + " ix_work_queue_agent ix_work_queue_lease ix_work_queue_lot ix_work_queue_run ix_work_queue_turn"
                    + " ix_workspaces_purge uq_agent_reports_subject uq_artifacts_key"
                    + " uq_board_tasks_orchestration_run uq_board_tasks_orchestration_task uq_event_exports_run uq_mcp_tools_change"
                    + " uq_orch_runs_external uq_run_children_child uq_run_parents_step uq_run_signals_seq"
                    + " uq_run_signals_step uq_run_undos_run uq_triggers_notice ux_agents_slug ux_workflow_recipes_id ux_workflow_recipes_name";

    private static final String DIFFERENT = "with " + Neighbours.OURS + SharedIndexes.SHARED + """
            select format('The index %1$I of %2$I is not the one that Keelson needs: alter index %1$I rename to %3$I',
                    i.name, i.place, 'former_' || i.name)
              from present i
             where i.name = any (string_to_array(?, ' ')) and to_regclass('flyway_schema_history') is null
               and not exists (select from shared s
                    where s.place = i.place and s.name = i.name and s.uniq = i.uniq and i.valid
                      and s.definition = i.definition)
             order by i.name""";

    /** Names that exist before Keelson's first start, and therefore belong to others. */
    private static final String TAKEN = "with " + Neighbours.OURS + """
            , names (tables, views, indexes) as (values
                (string_to_array(?, ' '), string_to_array(?, ' '), string_to_array(?, ' '))),
            here as (
                select c.oid, c.relname as name, c.relkind as kind from pg_class c
                 where c.relnamespace = current_schema()::regnamespace and to_regclass('flyway_schema_history') is null)
            select problem from (
                select 1 as step, name, format('%1$I exists, but Keelson did not make it. Set it aside with its indexes '
                        'and sequences: create schema if not exists set_aside; alter table %1$I set schema set_aside',
                        name) as problem
                  from here cross join names where kind in ('r', 'p', 'v', 'm', 'f') and name = any (tables || views)
                union all
                select 2, h.name, format('The index %1$I of %2$s has a name that Keelson needs: '
                        'alter index %1$I rename to %3$I', h.name, i.indrelid::regclass, 'former_' || h.name)
                  from here h cross join names n join pg_index i on i.indexrelid = h.oid
                  join pg_class t on t.oid = i.indrelid
                 where h.name = any (n.indexes) and not t.relname = any (n.tables || n.views)
                   and t.oid not in (select oid from places)
                union all
                select 3, h.name, format('The sequence %1$I has a name that Keelson needs: '
                        'alter sequence %1$I rename to %2$I', h.name, 'former_' || h.name)
                  from here h cross join names n
                 where h.kind = 'S' and h.name in (select t || '_id_seq' from unnest(n.tables) t
                            union all select place || '_id_seq' from ours)
                   and not exists (select from pg_depend d join pg_class t on t.oid = d.refobjid
                        where d.classid = 'pg_class'::regclass and d.objid = h.oid and d.deptype in ('a', 'i')
                          and (t.relname = any (n.tables) or t.oid in (select oid from places)))) problems
             order by step, name""";

    private NeighbourNames() {}

    /** Objects that must be renamed before the first start, with the statements for it. */
    static List<String> problems(Connection connection) throws SQLException {
        List<String> problems =
                new ArrayList<>(Neighbours.texts(connection, TAKEN, OWN_TABLES, OWN_VIEWS, OWN_INDEXES));
        problems.addAll(Neighbours.texts(connection, DIFFERENT, OWN_INDEXES));
        return problems;
    }
}
