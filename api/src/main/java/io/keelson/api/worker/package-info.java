/** The dispatch protocol of workers: claims, heartbeats, reports and their answers. A report has one shape from the worker to the engine. */
@NullMarked
package io.keelson.api.worker;

import org.jspecify.annotations.NullMarked;
