# local.mk - models of the protocol, and what is explored of them.

model_sources = %D%/explore.c %D%/explore.h %D%/model_failover.c %D%/model_failover.h \
	%D%/model_failover_clients.c %D%/model_failover_names.c %D%/model_failover_parts.h \
	%D%/model_failover_plain.c %D%/model_fencing.c %D%/model_fencing.h \
	%D%/model_fencing_numbers.c %D%/model_fencing_parts.h %D%/model_lock.c %D%/model_lock.h \
	%D%/model_lock_holds.c %D%/model_lock_parts.h %D%/symmetry.c %D%/symmetry.h \
	%D%/variants.c %D%/variants.h
%C%_test_model_SOURCES = %D%/test_model.c $(model_sources)

# All of them; the test leaves out those that take a second or more.
EXTRA_PROGRAMS += %D%/model
%C%_model_SOURCES = %D%/model.c $(model_sources)
%C%_model_LDADD =
check-model: %D%/model
	%D%/model
.PHONY: check-model
