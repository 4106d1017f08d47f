/**
 * Tests of missions with JUnit. {@link io.keelson.test.KeelsonTest} starts a server per class, and gives each test a
 * {@link io.keelson.test.TestKeelson} with a workspace of its own.
 */
@NullMarked
package io.keelson.test;

import org.jspecify.annotations.NullMarked;
