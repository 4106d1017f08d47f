/**
 * Artifacts in a bucket of an S3-compatible object store.
 *
 * <ul>
 * <li>Storage keys are unique, so no request depends on {@code If-None-Match}. It is sent if the store respects it ({@link StoreProbe}).
 * <li>A sweep removes objects that the database does not name. {@link PrefixOwner} keeps a second database from the prefix. The proof
 * precedes each listing of a sweep; for single objects it may be a minute old, as a sweep spares objects of the last 25 hours.
 * <li>Content has an unknown length. It is sent in parts of 8 MiB from memory ({@link PartUpload}), so that each part can be repeated.
 * <li>The answer to a request that ends an upload can be lost. Then the object's size shows whether it is there.
 * <li>A read continues after a lost connection with a request for the other bytes ({@link ResumedContent}).
 * <li>Not every store lists unfinished uploads, verifies checksums or has lifecycle rules: nothing depends on them.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.s3;

import org.jspecify.annotations.NullMarked;
