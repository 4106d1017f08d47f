comment on column work_results.output_hash is
    'of the output as reported, before secrets were redacted; null for reported failures and for results of the server itself';
