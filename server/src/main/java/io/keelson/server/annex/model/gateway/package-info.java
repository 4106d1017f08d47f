/**
 * The models' side of the gateway: unmodified programs of steps request models over the wires of OpenAI and Anthropic.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A token is checked at each request: its lease may have ended since the last one.
 * <li>A request may wait long for its provider and for its client: its memory is taken from {@link WorkspaceRequests}.
 * <li>Refusals have the wire's form, for programs show them to people.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.model.gateway;

import org.jspecify.annotations.NullMarked;
