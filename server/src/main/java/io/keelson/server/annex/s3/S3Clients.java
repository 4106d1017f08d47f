package io.keelson.server.annex.s3;

import io.keelson.server.base.problem.StartupException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/**
 * Clients of a store. They send no checksums and chunked signatures that many compatible stores do not support, and bound every wait.
 *
 * @param requests sends requests
 * @param completions sends requests that end an upload, once each: many stores copy all of its parts before they respond
 * @param links signs links without a request
 */
record S3Clients(S3Client requests, S3Client completions, S3Presigner links) implements AutoCloseable {

    static final String REGION_MISSING = "ARTIFACT_STORE_REGION_MISSING";

    /**
     * Maximum waits.
     *
     * @param silence for bytes of a response
     * @param one for one try
     * @param all for all tries together
     * @param tries maximum number
     */
    record Waits(Duration silence, Duration one, Duration all, int tries) {

        /** A try is a part of 8 MiB at 0.3 MB/s. */
        static final Waits DEFAULTS =
                new Waits(Duration.ofSeconds(20), Duration.ofSeconds(30), Duration.ofSeconds(90), 5);
    }

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration LEAST_COMPLETION = Duration.ofMinutes(2);
    /** A store that copies all parts to end an upload reads and writes at least that number of bytes a second. */
    private static final long SLOWEST_COPY = 16 << 20;
    /** Content of 10,000 parts. */
    private static final long MAX_CONTENT = 10_000L * PartBuffers.PART_BYTES;
    private static final Duration FIRST_DELAY = Duration.ofMillis(100);
    private static final Duration MAX_DELAY = Duration.ofSeconds(3);

    /** @throws StartupException {@link #REGION_MISSING} */
    static S3Clients of(S3Settings settings) throws StartupException {
        return of(settings, Waits.DEFAULTS);
    }

    /** @param waits of requests; the end of an upload has its own */
    static S3Clients of(S3Settings settings, Waits waits) throws StartupException {
        Region region = region(settings);
        AwsCredentialsProvider credentials = credentials(settings.access().keys());
        S3Configuration style = S3Configuration.builder().pathStyleAccessEnabled(settings.access().pathStyle())
                .chunkedEncodingEnabled(false).build();
        S3Presigner.Builder links = S3Presigner.builder().region(region).credentialsProvider(credentials)
                .serviceConfiguration(style);
        if (settings.access().endpoint() != null) {
            links.endpointOverride(settings.access().endpoint());
        }
        Duration longest = completion(Long.MAX_VALUE);
        return new S3Clients(client(settings, region, credentials, style, waits),
                client(settings, region, credentials, style, new Waits(longest, longest, longest, 1)), links.build());
    }

    private static S3Client client(S3Settings settings, Region region, AwsCredentialsProvider credentials,
            S3Configuration style, Waits waits) {
        S3ClientBuilder client = S3Client.builder().region(region).credentialsProvider(credentials)
                .serviceConfiguration(style)
                .httpClientBuilder(UrlConnectionHttpClient.builder().connectionTimeout(CONNECT_TIMEOUT)
                        .socketTimeout(waits.silence))
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                .overrideConfiguration(calls -> calls.apiCallAttemptTimeout(waits.one).apiCallTimeout(waits.all)
                        .retryStrategy(AwsRetryStrategy.standardRetryStrategy().toBuilder().maxAttempts(waits.tries)
                                .backoffStrategy(BackoffStrategy.exponentialDelay(FIRST_DELAY, MAX_DELAY)).build()));
        if (settings.access().endpoint() != null) {
            client.endpointOverride(settings.access().endpoint());
        }
        return client.build();
    }

    /** Maximum time of one request that ends an upload. */
    static Duration completion(long bytes) {
        return LEAST_COMPLETION.plusSeconds(Math.min(bytes, MAX_CONTENT) / SLOWEST_COPY);
    }

    private static Region region(S3Settings settings) throws StartupException {
        if (settings.access().region() != null) {
            return Region.of(settings.access().region());
        }
        if (settings.access().endpoint() != null) {
            return Region.US_EAST_1;
        }
        try {
            return DefaultAwsRegionProviderChain.builder().build().getRegion();
        } catch (SdkClientException e) {
            throw new StartupException(REGION_MISSING, "The region of " + settings.location()
                    + " is unknown: set KEELSON_S3_REGION, or KEELSON_S3_ENDPOINT for another store than Amazon's.", e);
        }
    }

    private static AwsCredentialsProvider credentials(S3Settings.@Nullable Keys keys) {
        return keys == null ? DefaultCredentialsProvider.builder().build()
                : StaticCredentialsProvider.create(AwsBasicCredentials.create(keys.id(), keys.secret()));
    }

    @Override
    public void close() {
        requests.close();
        completions.close();
        links.close();
    }
}
