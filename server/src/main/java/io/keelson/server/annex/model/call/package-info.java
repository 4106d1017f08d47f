/**
 * Calls of models on behalf of tools.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A provider bills answers that the tool cannot use. A failure after an answer has its tokens in
 * {@code ToolFailure.spent}. A step that is handed back to the queue charges nothing, so a call hands back only before its
 * first answer.
 * <li>A model whose provider has asked for a pause lets one request pass as a probe, and the others wait for it. They wait in
 * their wait phase, so that they keep no requests to other models from being prepared.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.model.call;

import org.jspecify.annotations.NullMarked;
