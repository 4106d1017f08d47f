/**
 * Missions and their submission by people, schedules and other runs.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code bulk}<td>commands to all runs of a filter
 * <tr><td>{@code plan}<td>missions (YAML, JSON) to plans, problems with JSON pointers, schemas
 * <tr><td>{@code recipe}<td>stored missions, in versions
 * <tr><td>{@code roster}<td>the agents of a workspace, their permissions and skills
 * <tr><td>{@code schedule}<td>schedules, their due times, the runs they submit
 * <tr><td>{@code submission}<td>submits runs for HTTP and schedules, prepares child runs, admits bulk retries
 * </table>
 */
@NullMarked
package io.keelson.server.mission;

import org.jspecify.annotations.NullMarked;
