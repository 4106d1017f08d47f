/**
 * Decisions on failures and calls from facts alone, without a view: error classes, retries with backoff, escalation, and
 * the approval of agents' calls.
 */
@NullMarked
package io.keelson.core.policy;

import org.jspecify.annotations.NullMarked;
