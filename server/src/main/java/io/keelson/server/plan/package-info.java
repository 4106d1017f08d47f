/**
 * Missions: what a client or a file asks for, read into a plan that the core can judge and run. Nothing here touches
 * the store; what is wrong is said all at once, as problems with pointers.
 */
@NullMarked
package io.keelson.server.plan;

import org.jspecify.annotations.NullMarked;
