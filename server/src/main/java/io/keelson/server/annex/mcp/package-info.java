/**
 * Servers of the Model Context Protocol that workspaces use, and their tools as tools of plans and agents. {@code wire} has the
 * protocol, {@code endpoint} Keelson as a server of it, {@code gateway} the tools of programs, {@code McpModule} joins them to a server.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A description is a prompt: a tool is used as it was accepted, and held back when its server changes it.
 * <li>Annotations of a server that is not trusted say nothing about the effects of its tools.
 * <li>No wait is in memory: the commands {@code TrackCall}, {@code Release} and {@code Answer} store it in the table
 * {@code call_waits}, and the step is deferred.
 * <li>A tool is as old as the catalogue that a step found it in: before a call its description is compared with the newest row.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.mcp;

import org.jspecify.annotations.NullMarked;
