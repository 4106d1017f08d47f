/**
 * Parts that a server can do without, one package each. Only {@code app}, {@code testing} and the command line import an annex, and no
 * annex imports another.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code effect}<td>commands to external systems, at most once per key; provider adapters
 * <tr><td>{@code mcp}<td>servers of the Model Context Protocol and their tools; {@code .wire}: the protocol and its client; {@code .endpoint}: Keelson as such a server; {@code .gateway}: tools of programs
 * <tr><td>{@code model}<td>models that the server calls: {@code .wire}: protocols of providers; {@code .registry}: their configuration; {@code .call}: use by tools; {@code .turn}: turns of agents; {@code .coordination}: planner and judge; {@code .wiring}: settings, routes and the module
 * <tr><td>{@code notice}<td>notices of questions, and pages that answer them by a signed link
 * <tr><td>{@code oidc}<td>sign-in at an OpenID provider
 * <tr><td>{@code trigger}<td>triggers: events from outside that start runs
 * <tr><td>{@code postgres}<td>the embedded PostgreSQL
 * <tr><td>{@code rabbitmq}<td>messages to a broker about ready work of remote workers
 * <tr><td>{@code s3}<td>artifacts in an S3-compatible object store
 * </table>
 */
@NullMarked
package io.keelson.server.annex;

import org.jspecify.annotations.NullMarked;
