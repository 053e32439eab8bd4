# local.mk - the library, a folder a list.
#
#   api       include/redlock.h, one file a call or a family of calls
#   engine    the client, from below to above in rooms: masters (who can vote), wait (queues),
#             client (its structs), loop (with its calls), lease (with its renewal)
#   endpoint  lines whose servers Sentinels name: the Sentinels
#   node      one master: its state, what is said first, replies; its subscriber
#   net       one connection: sockets, TLS, names, requests and replies as bytes
#   kinds     the kinds of lock, each with its scripts beside it
#   config    the node list
#   core      what is decided: votes, deadlines, what is undone
#   base      what everything stands on

lib_LTLIBRARIES = libredlock.la
noinst_LTLIBRARIES = libredlock-core.la

# A folder a list, from below to above: tests/repo/layers.txt has the table of allowed uses.
lib_base = %D%/base/client_name.h %D%/base/clock.c %D%/base/clock.h %D%/base/diagnostic.c \
	%D%/base/diagnostic.h \
	%D%/base/duration.c %D%/base/duration.h %D%/base/entropy.c %D%/base/entropy.h \
	%D%/base/errors.c %D%/base/eventfd.h %D%/base/fork_check.c %D%/base/fork_check.h \
	%D%/base/futex.c %D%/base/futex.h %D%/base/hash.c %D%/base/hash.h %D%/base/siphash.c %D%/base/siphash.h \
	%D%/base/limits.c %D%/base/limits.h %D%/base/openssl_gate.c %D%/base/openssl_gate.h %D%/base/list.h %D%/base/mask.c %D%/base/mask.h %D%/base/prng.c %D%/base/prng.h \
	%D%/base/sha1.c %D%/base/sha1.h %D%/base/struct_abi.c %D%/base/struct_abi.h \
	%D%/base/suggest.c %D%/base/suggest.h %D%/base/text.c %D%/base/text.h \
	%D%/base/text_escape.c %D%/base/text_escape.h %D%/base/timer_heap.c \
	%D%/base/timer_heap.h %D%/base/times.h %D%/base/wipe.c %D%/base/wipe.h
lib_core = %D%/core/backoff.c %D%/core/backoff.h %D%/core/certify.c %D%/core/certify.h %D%/core/driven.c %D%/core/driven.h \
	%D%/core/fence.c %D%/core/fence.h %D%/core/gather.c %D%/core/gather.h \
	%D%/core/hold.c %D%/core/hold.h %D%/core/hold_fence.c %D%/core/hold_parts.h \
	%D%/core/hold_replies.c \
	%D%/core/hold_back.c %D%/core/hold_keep.c %D%/core/hold_void.c \
	%D%/core/clock_watch.c %D%/core/clock_watch.h \
	%D%/core/sightings.c %D%/core/sightings.h \
	%D%/core/identity.c %D%/core/identity.h %D%/core/marker.c %D%/core/marker.h \
	%D%/core/outcome.c %D%/core/outcome.h %D%/core/presence.c %D%/core/presence.h %D%/core/quorum.c %D%/core/quorum.h \
	%D%/core/quorum_value.c %D%/core/quorum_value.h %D%/core/reconnect.c \
	%D%/core/reconnect.h %D%/core/refusal.c %D%/core/refusal.h %D%/core/server_info.c %D%/core/server_info.h %D%/core/trust.c %D%/core/trust.h \
	%D%/core/validity.c %D%/core/validity.h %D%/core/verb.h \
	%D%/core/statement.c %D%/core/statement.h %D%/core/unheard.c %D%/core/unheard.h \
	%D%/core/witness.c %D%/core/witness.h %D%/core/witness_told.c \
	%D%/core/waking.c %D%/core/waking.h %D%/core/waking_refusals.c
lib_config = %D%/config/sentinels.c %D%/config/sentinels.h %D%/config/config.c %D%/config/config.h %D%/config/config_abi.c \
	%D%/config/config_abi.h %D%/config/config_file.c %D%/config/config_load.c \
	%D%/config/config_load.h %D%/config/config_words.c %D%/config/host.c %D%/config/host.h \
	%D%/config/list_mark.c %D%/config/list_mark.h %D%/config/list_parts.c \
	%D%/config/list_parts.h %D%/config/reader.c %D%/config/reader.h \
	%D%/config/variables.c %D%/config/variables.h \
	%D%/config/node_options.c %D%/config/node_options.h %D%/config/password.c \
	%D%/config/settings.c %D%/config/settings.h %D%/config/read_file.c \
	%D%/config/read_file.h %D%/config/url.c %D%/config/url.h %D%/config/url_text.c \
	%D%/config/url_text.h
lib_kinds = %D%/kinds/handle_text.c %D%/kinds/handle_text.h %D%/kinds/key_rules.c \
	%D%/kinds/key_rules.h %D%/kinds/fencing.h %D%/kinds/keys.c %D%/kinds/keys.h %D%/kinds/kind.c \
	%D%/kinds/kind.h %D%/kinds/lists.h %D%/kinds/marker.h %D%/kinds/lock_view.c %D%/kinds/lock_view.h %D%/kinds/name_set.c \
	%D%/kinds/name_set.h %D%/kinds/script_error.c %D%/kinds/script_error.h %D%/kinds/server_keys.c \
	%D%/kinds/server_keys.h
lib_net = %D%/net/fence_certificate.c %D%/net/fence_certificate.h %D%/net/connection.c %D%/net/connection.h \
	%D%/net/hiredis_reader.c %D%/net/hiredis_reader.h \
	%D%/net/link.c %D%/net/link.h %D%/net/link_connect.c %D%/net/link_internal.h \
	%D%/net/link_race.c %D%/net/link_socket.c \
	%D%/net/resolve.c %D%/net/resolve.h %D%/net/resp.h %D%/net/resp_reader.c \
	%D%/net/resp_writer.c %D%/net/session.c %D%/net/session.h %D%/net/tls.c %D%/net/tls.h %D%/net/tls_bio.c \
	%D%/net/tls_context.c %D%/net/tls_files.c %D%/net/tls_internal.h %D%/net/tls_left.c %D%/net/tls_library.c \
	%D%/net/usual_reply.c %D%/net/usual_reply.h
lib_node = %D%/node/channel.c %D%/node/channel.h %D%/node/native_reply.c %D%/node/native_reply.h %D%/node/node.c %D%/node/node_clock.c %D%/node/node_marker.c %D%/node/node_marker.h %D%/node/node_addresses.c %D%/node/node_addresses.h %D%/node/node_hear.c %D%/node/node_named.c %D%/node/node_named.h %D%/node/node_met.c %D%/node/node_met.h %D%/node/node_presence.c %D%/node/node.h \
	%D%/node/node_fence.c %D%/node/node_fence.h \
	%D%/node/node_fitness.c %D%/node/node_handshake.c %D%/node/node_lists.c \
	%D%/node/node_lists.h %D%/node/node_replies.c \
	%D%/node/node_standing.c %D%/node/node_state.c %D%/node/request.c %D%/node/request.h \
	%D%/node/script_reply.c %D%/node/script_reply.h %D%/node/subscriber.c \
	%D%/node/subscriber.h %D%/node/subscriber_channels.c %D%/node/subscriber_parts.h \
	%D%/node/subscriber_replies.c %D%/node/subscriber_state.c %D%/node/target.c %D%/node/target.h
lib_endpoint = %D%/endpoint/endpoints.c %D%/endpoint/endpoints.h %D%/endpoint/sentinel.c \
	%D%/endpoint/sentinel.h %D%/endpoint/sentinel_talk.c
lib_engine_masters = %D%/engine/masters/certify.c %D%/engine/masters/certify.h \
	%D%/engine/masters/duplicates.c %D%/engine/masters/duplicates.h \
	%D%/engine/masters/lists_told.c %D%/engine/masters/lists_told.h %D%/engine/masters/nodes.c \
	%D%/engine/masters/nodes.h %D%/engine/masters/voters.c %D%/engine/masters/voters.h
lib_engine_wait = %D%/engine/wait/subscribers.c %D%/engine/wait/subscribers.h \
	%D%/engine/wait/wait_channel.c %D%/engine/wait/wait_leave.c %D%/engine/wait/wait_queue.c \
	%D%/engine/wait/wait_queue.h %D%/engine/wait/wait_signals.c
lib_engine_client = %D%/engine/client/callbacks.c %D%/engine/client/callbacks.h \
	%D%/engine/client/client.h %D%/engine/client/kick.c %D%/engine/client/kick.h \
	%D%/engine/client/log.c %D%/engine/client/log.h %D%/engine/client/owner.c \
	%D%/engine/client/owner.h %D%/engine/client/parking.c %D%/engine/client/parking.h \
	%D%/engine/client/tally.c %D%/engine/client/tally.h
lib_engine_loop = %D%/engine/loop/call.c %D%/engine/loop/call.h %D%/engine/loop/leader.c \
	%D%/engine/loop/leader.h %D%/engine/loop/loop.c %D%/engine/loop/loop.h \
	%D%/engine/loop/report.c %D%/engine/loop/report.h
lib_engine_lease = %D%/engine/lease/account.c %D%/engine/lease/account.h \
	%D%/engine/lease/account_text.c %D%/engine/lease/fill_in.c %D%/engine/lease/fill_in.h \
	%D%/engine/lease/lease.c %D%/engine/lease/lease.h %D%/engine/lease/lease_fill.c \
	%D%/engine/lease/lease_own.c %D%/engine/lease/lease_parts.h %D%/engine/lease/lease_pool.c \
	%D%/engine/lease/lease_replies.c %D%/engine/lease/lease_send.c \
	%D%/engine/lease/lease_void.c %D%/engine/lease/renewal.c %D%/engine/lease/renewal_queue.c \
	%D%/engine/lease/renewal_state.c
lib_engine = $(lib_engine_masters) $(lib_engine_wait) $(lib_engine_client) $(lib_engine_loop) $(lib_engine_lease) \
	%D%/engine/background.c %D%/engine/background.h %D%/engine/cork.c \
	%D%/engine/cork.h %D%/engine/engine.c %D%/engine/engine.h %D%/engine/enter.c %D%/engine/enter.h
lib_api = %D%/api/acquire.c %D%/api/acquire.h %D%/api/acquire_bounds.c \
	%D%/api/acquire_round.c %D%/api/cancel.c %D%/api/close.c %D%/api/close.h %D%/api/detach.c %D%/api/event_loop.c \
	%D%/api/extend.c %D%/api/hold_report.c %D%/api/inspect.c %D%/api/last_error.c %D%/api/ttl_check.c %D%/api/lock.c %D%/api/lock.h \
	%D%/api/multi_items.c %D%/api/multi_items.h %D%/api/multi_lock.c %D%/api/open.c \
	%D%/api/probe.c %D%/api/probe.h %D%/api/probe_proofs.c %D%/api/probe_proofs.h \
	%D%/api/query.c %D%/api/query.h \
	%D%/api/release.c %D%/api/status.c %D%/api/status_report.c %D%/api/status_report.h %D%/api/stats.c %D%/api/try.c %D%/api/try.h

lua_files = %D%/kinds/fence/fence_join.lua %D%/kinds/lists/lists_join.lua %D%/kinds/marker/marker_init.lua %D%/kinds/marker/marker_join.lua %D%/kinds/marker/marker_named.lua \
	%D%/kinds/marker/marker_strict.lua \
	%D%/kinds/shared/force.lua %D%/kinds/shared/inspect.lua \
	%D%/kinds/fair/fair_acquire.lua %D%/kinds/fair/fair_leave.lua \
	%D%/kinds/fair/fair_release.lua %D%/kinds/fair/fair_retake.lua \
	%D%/kinds/fair/fair_wait.lua %D%/kinds/plain/plain_acquire.lua \
	%D%/kinds/plain/plain_extend.lua %D%/kinds/plain/plain_leave.lua \
	%D%/kinds/plain/plain_release.lua %D%/kinds/plain/plain_retake.lua \
	%D%/kinds/plain/plain_wait.lua %D%/kinds/quorum_rw/qread_acquire.lua \
	%D%/kinds/quorum_rw/qread_extend.lua %D%/kinds/quorum_rw/qread_release.lua \
	%D%/kinds/quorum_rw/qread_retake.lua %D%/kinds/quorum_rw/qread_wait.lua \
	%D%/kinds/quorum_rw/qwrite_acquire.lua %D%/kinds/quorum_rw/qwrite_extend.lua \
	%D%/kinds/quorum_rw/qwrite_leave.lua %D%/kinds/quorum_rw/qwrite_release.lua \
	%D%/kinds/quorum_rw/qwrite_retake.lua %D%/kinds/quorum_rw/qwrite_wait.lua \
	%D%/kinds/redisson_rw/read_acquire.lua %D%/kinds/redisson_rw/read_extend.lua \
	%D%/kinds/redisson_rw/read_leave.lua %D%/kinds/redisson_rw/read_release.lua \
	%D%/kinds/redisson_rw/read_retake.lua %D%/kinds/redisson_rw/read_wait.lua \
	%D%/kinds/redisson_rw/write_acquire.lua %D%/kinds/redisson_rw/write_extend.lua \
	%D%/kinds/redisson_rw/write_leave.lua %D%/kinds/redisson_rw/write_release.lua \
	%D%/kinds/redisson_rw/write_retake.lua %D%/kinds/redisson_rw/write_wait.lua \
	%D%/kinds/name_set/several_acquire.lua %D%/kinds/name_set/several_extend.lua \
	%D%/kinds/name_set/several_leave.lua %D%/kinds/name_set/several_release.lua \
	%D%/kinds/name_set/several_retake.lua %D%/kinds/name_set/several_wait.lua \
	%D%/kinds/reentrant/reentrant_acquire.lua %D%/kinds/reentrant/reentrant_extend.lua \
	%D%/kinds/reentrant/reentrant_release.lua %D%/kinds/reentrant/reentrant_retake.lua \
	%D%/kinds/reentrant/reentrant_wait.lua
lua_parts = %D%/kinds/marker/marker_began.lua %D%/kinds/marker/marker_read.lua %D%/kinds/marker/marker_set.lua %D%/kinds/fence/fence_certificate.lua %D%/kinds/fence/fence_counter.lua %D%/kinds/fence/fence_grant.lua \
	%D%/kinds/fence/fence_keep.lua %D%/kinds/fence/fence_text.lua %D%/kinds/shared/key_kind.lua %D%/kinds/shared/force_beside.lua \
	%D%/kinds/fair/fair_queue.lua %D%/kinds/fair/fair_take.lua \
	%D%/kinds/reentrant/reentrant_give.lua %D%/kinds/shared/wake_next.lua %D%/kinds/shared/waiters.lua \
	%D%/kinds/shared/holder_text.lua %D%/kinds/shared/foreign_data.lua \
	%D%/kinds/shared/broken_note.lua %D%/kinds/shared/text_of.lua %D%/kinds/shared/not_ours.lua %D%/kinds/shared/own_key.lua \
	%D%/kinds/shared/foreign_kind.lua %D%/kinds/quorum_rw/qrw.lua \
	%D%/kinds/quorum_rw/qrw_last.lua %D%/kinds/quorum_rw/qrw_live.lua %D%/kinds/quorum_rw/qrw_owner.lua \
	%D%/kinds/quorum_rw/qrw_put.lua %D%/kinds/quorum_rw/qrw_tidy.lua \
	%D%/kinds/quorum_rw/qrw_extend.lua %D%/kinds/quorum_rw/qrw_remove.lua \
	%D%/kinds/quorum_rw/qread_free.lua %D%/kinds/quorum_rw/qwrite_free.lua \
	%D%/kinds/quorum_rw/qread.lua %D%/kinds/quorum_rw/qread_take.lua \
	%D%/kinds/quorum_rw/qwrite_take.lua %D%/kinds/quorum_rw/qwrite_mark.lua \
	%D%/kinds/redisson_rw/rw_extend.lua %D%/kinds/redisson_rw/rw_extend_only.lua \
	%D%/kinds/redisson_rw/rw_free.lua %D%/kinds/redisson_rw/rw_compact.lua \
	%D%/kinds/redisson_rw/rw_holds.lua %D%/kinds/redisson_rw/rw_mark.lua \
	%D%/kinds/redisson_rw/rw_read.lua %D%/kinds/redisson_rw/rw_release.lua \
	%D%/kinds/redisson_rw/rw_release_last.lua %D%/kinds/redisson_rw/rw_state.lua \
	%D%/kinds/redisson_rw/rw_tell.lua %D%/kinds/redisson_rw/rw_turn.lua \
	%D%/kinds/redisson_rw/rw_write.lua %D%/kinds/name_set/several_blocked.lua \
	%D%/kinds/shared/redisson_count.lua %D%/kinds/reentrant/reentrant.lua \
	%D%/kinds/reentrant/reentrant_free.lua \
	%D%/kinds/reentrant/reentrant_lasts.lua %D%/kinds/reentrant/reentrant_take.lua \
	%D%/kinds/shared/describe_key.lua

libredlock_core_la_SOURCES = $(lib_base) $(lib_core) $(lib_config) $(lib_kinds) $(lib_net) \
	$(lib_node) $(lib_endpoint) $(lib_engine) $(lib_api)
nodist_libredlock_core_la_SOURCES = %D%/kinds/scripts.h
libredlock_core_la_CPPFLAGS = $(LIB_CPPFLAGS)
# It names no libraries, because one of the programs is linked without OpenSSL.

# hiredis's reader, linked in: what we call has names of our own, and the rest is hidden in it.
if !SHARED_HIREDIS
hidden_reader = %D%/net/hidden_reader.lo
libredlock_core_la_LIBADD = $(hidden_reader)
EXTRA_libredlock_core_la_DEPENDENCIES = $(hidden_reader)
CLEANFILES += %D%/net/hidden_reader.o
$(hidden_reader): $(HIREDIS_ARCHIVE)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(LD) -r -u redisReaderCreateWithFunctions -o $(@D)/hidden_reader.o $(HIREDIS_ARCHIVE) && \
	$(OBJCOPY) --redefine-sym redisReaderCreateWithFunctions=rl_hiredis_create \
	  --redefine-sym redisReaderFree=rl_hiredis_free \
	  --redefine-sym redisReaderFeed=rl_hiredis_feed \
	  --redefine-sym redisReaderGetReply=rl_hiredis_get \
	  $(@D)/hidden_reader.o && \
	$(OBJCOPY) -w -G 'rl_hiredis_*' $(@D)/hidden_reader.o && \
	{ echo '# hidden_reader.lo - a libtool object file'; \
	  echo '# Generated by hand, for libtool'; \
	  echo "pic_object='hidden_reader.o'"; echo "non_pic_object='hidden_reader.o'"; } >$@
endif

libredlock_la_SOURCES =
libredlock_la_LIBADD = libredlock-core.la $(DEPS_LIBS)
# current:revision:age. Code changed: revision + 1. Interfaces added: current + 1, age + 1,
# revision 0. Interfaces removed or changed: current + 1, age 0, revision 0.
libredlock_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -version-info 0:0:0
# A look-up's thread may outlive the client: the code it runs must not be unmapped.
libredlock_la_LDFLAGS += -Wl,-z,nodelete
if VERSION_SCRIPT
if !SANITIZED
libredlock_la_LDFLAGS += -Wl,--version-script=$(srcdir)/%D%/redlock.map
endif
endif
EXTRA_libredlock_la_DEPENDENCIES = %D%/redlock.map

BUILT_SOURCES += %D%/kinds/scripts.h
CLEANFILES += $(BUILT_SOURCES)
# For making one program in a fresh tree, before `make all`.
%D%/kinds/libredlock_core_la-kind.lo tests/support/fake_keys.$(OBJEXT): %D%/kinds/scripts.h
%D%/kinds/scripts.h: %D%/kinds/shared/embed.awk $(lua_files) $(lua_parts)
	$(AM_V_GEN)$(MKDIR_P) %D%/kinds && cd $(srcdir) && \
	  $(AWK) -f %D%/kinds/shared/embed.awk $(lua_files) > $(abs_builddir)/$@.tmp && \
	  mv $(abs_builddir)/$@.tmp $(abs_builddir)/$@

EXTRA_DIST += $(lua_files) $(lua_parts) %D%/kinds/shared/embed.awk %D%/redlock.map
