/**
 * The wires of model providers: pure functions from a request to a JSON body, and from a JSON answer or its events to an answer.
 * <ul>
 * <li>A body is a pure function of its request, byte for byte: a provider caches the beginning of a conversation only while it
 * does not change. So tools are sorted by name, and nothing that changes is written before the messages.
 * <li>The events of a stream are put together to the document that the provider would have sent without a stream, and only a whole
 * document is read. So a stream that is cut never gives half an answer.
 * <li>Tokens that a provider reported before a failure are in the {@link io.keelson.server.annex.model.ModelException}.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.model.wire;

import org.jspecify.annotations.NullMarked;
