# local.mk - the tests, and how they are run. A test is its file alone: scenes, rigs and models are
# in the support library, of which the linker takes what a test needs. A first line
# "tags: long threads ..." puts a test on tagged.sh's lists.

check_LIBRARIES = %D%/libsupport.a
%C%_libsupport_a_SOURCES = %D%/support/alloc.c %D%/support/alloc.h %D%/support/ask.c \
	%D%/support/channel_scene.c %D%/support/channel_scene.h %D%/support/chaos_made.c \
	%D%/support/chaos_made.h %D%/support/chaos_made_run.c %D%/support/child.c \
	%D%/support/child.h %D%/support/cli_rig.c %D%/support/cli_rig.h %D%/support/client.c \
	%D%/support/client.h %D%/support/clients.c %D%/support/clients.h %D%/support/conf.c \
	%D%/support/conf.h %D%/support/fair_model.c %D%/support/fair_model.h \
	%D%/support/fair_peer.c %D%/support/fair_peer.h %D%/support/fair_scene.c \
	%D%/support/fair_scene.h %D%/support/fake.c %D%/support/fake.h %D%/support/fake_dns.c \
	%D%/support/fake_dns.h %D%/support/fake_internal.h %D%/support/fake_keys.c \
	%D%/support/fake_keys.h %D%/support/fake_serve.c %D%/support/fakes.c \
	%D%/support/hash_slot.c %D%/support/hash_slot.h \
	%D%/support/hold_check.c %D%/support/hold_client.c %D%/support/hold_space.c \
	%D%/support/hold_space.h %D%/support/hold_space_check.c %D%/support/hold_story.c \
	%D%/support/hold_story.h %D%/support/hold_world.c %D%/support/hold_world.h \
	%D%/support/json.c %D%/support/json.h %D%/support/json_schema.c %D%/support/json_schema.h %D%/support/look.c %D%/support/look.h %D%/support/marks.c %D%/support/marks.h \
	%D%/support/loopback.c %D%/support/loopback.h %D%/support/masters.c %D%/support/masters.h \
	%D%/support/model_frame.c %D%/support/model_frame.h %D%/support/net.c %D%/support/net.h \
	%D%/support/node_list.c %D%/support/old_client.c %D%/support/old_client.h \
	%D%/support/old_scripts.h %D%/support/page_check.c %D%/support/page_check.h \
	%D%/support/program.c %D%/support/program.h %D%/support/proxy.c %D%/support/proxy.h \
	%D%/support/qrw_model.c %D%/support/qrw_model.h %D%/support/reentrant_model.c \
	%D%/support/reentrant_model.h %D%/support/reentrant_scene.c %D%/support/reentrant_scene.h \
	%D%/support/rig.c %D%/support/rig.h %D%/support/run_loss.c %D%/support/run_loss.h \
	%D%/support/run_scene.c %D%/support/run_scene.h \
	%D%/support/rw_model.c %D%/support/rw_model.h %D%/support/rw_scene.c \
	%D%/support/rw_scene.h %D%/support/rw_world.c %D%/support/rw_world.h \
	%D%/support/script_talk.c %D%/support/script_talk.h %D%/support/scripts_model.c \
	%D%/support/scripts_model.h %D%/support/scripts_scene.c %D%/support/scripts_scene.h \
	%D%/support/fake_sentinels.c %D%/support/fake_sentinels.h \
	%D%/support/sentinels.c %D%/support/sentinels.h \
	%D%/support/rights_play.c %D%/support/rights_play.h \
	%D%/support/several_model.c %D%/support/several_model.h %D%/support/stall.c \
	%D%/support/stall.h %D%/support/stepped.c %D%/support/stepped.h %D%/support/sub_rig.c %D%/support/sub_rig.h \
	%D%/support/sub_scene.c %D%/support/sub_scene.h %D%/support/suite.c \
	%D%/support/suite.h %D%/support/suite_main.c %D%/support/terminal.c %D%/support/terminal.h \
	%D%/support/tls_certs.c %D%/support/tls_certs.h %D%/support/tls_pair.c %D%/support/tls_pair.h \
	%D%/support/tls_scene.c %D%/support/tls_scene.h %D%/support/told.c %D%/support/told.h \
	%D%/support/wait_scene.c %D%/support/wait_scene.h %D%/support/waiter.c \
	%D%/support/waiter.h %D%/support/wire.c %D%/support/wire.h

if !HAVE_CHECK
# Said before anything is compiled.
$(%C%_libsupport_a_OBJECTS): need-check
need-check:
	@echo 'the tests need the library Check (Debian: check), and then another ./configure' >&2; false
endif

# What a program links that says nothing else: the tests.
test_archives = %D%/libsupport.a %D%/libsim.a tools/libchaos.a
LDADD = $(test_archives) libredlock-core.la $(CHECK_LIBS) $(DEPS_LIBS)

# Nothing that they link is shared: without libtool, which takes longer than the linker.
$(check_tests): private LINK = $(CCLD) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -o $@
$(check_tests): private LDADD = $(test_archives) .libs/libredlock-core.a $(CHECK_LIBS) $(DEPS_LIBS)

# Loaded into programs by tests that set their clock back.
CLEANFILES += %D%/support/boot_clock.so %D%/support/two_families.so \
  %D%/support/signal_with_lock.so %D%/support/signal_before_exec.so
EXTRA_DIST += %D%/support/boot_clock.c %D%/support/two_families.c \
  %D%/support/signal_with_lock.c %D%/support/signal_before_exec.c
EXTRA_DIST += %D%/support/other_malloc.c %D%/support/other_names.c
%D%/support/boot_clock.so: %D%/support/boot_clock.c config_auto.h
	$(AM_V_CCLD)mkdir -p %D%/support && $(CC) $(DEFS) -I. $(WARN_CFLAGS) $(CFLAGS) -fPIC \
	  -shared -o $@ $(srcdir)/%D%/support/boot_clock.c
%D%/support/signal_with_lock.so: %D%/support/signal_with_lock.c config_auto.h
	$(AM_V_CCLD)mkdir -p %D%/support && $(CC) $(DEFS) -I. $(WARN_CFLAGS) $(CFLAGS) -fPIC \
	  -shared -o $@ $(srcdir)/%D%/support/signal_with_lock.c
%D%/support/signal_before_exec.so: %D%/support/signal_before_exec.c config_auto.h
	$(AM_V_CCLD)mkdir -p %D%/support && $(CC) $(DEFS) -I. $(WARN_CFLAGS) $(CFLAGS) -fPIC \
	  -shared -o $@ $(srcdir)/%D%/support/signal_before_exec.c
%D%/support/two_families.so: %D%/support/two_families.c config_auto.h
	$(AM_V_CCLD)mkdir -p %D%/support && $(CC) $(DEFS) -I. $(WARN_CFLAGS) $(CFLAGS) -fPIC \
	  -shared -o $@ $(srcdir)/%D%/support/two_families.c
EXTRA_%C%_faults_test_peer_cases_clock_DEPENDENCIES = bin/server_clock.so
EXTRA_%C%_faults_test_master_clocks_DEPENDENCIES = bin/server_clock.so
EXTRA_%C%_locks_fence_test_fencing_DEPENDENCIES = bin/server_clock.so
EXTRA_%C%_locks_fence_test_fencing_strict_DEPENDENCIES = bin/server_clock.so
EXTRA_%C%_programs_test_cli_assume_DEPENDENCIES = bin/server_clock.so bin/redlock
EXTRA_%C%_programs_test_cli_tls_DEPENDENCIES = bin/redlock
EXTRA_%C%_programs_test_cli_two_servers_DEPENDENCIES = bin/redlock %D%/support/two_families.so
EXTRA_%C%_programs_test_cli_blind_DEPENDENCIES = bin/redlock
EXTRA_%C%_programs_test_cli_others_keys_DEPENDENCIES = bin/redlock
EXTRA_%C%_programs_test_cli_replay_DEPENDENCIES = bin/redlock
EXTRA_%C%_programs_test_cli_json_DEPENDENCIES = bin/redlock %D%/support/undecided

# redlock(1) whose tries end undecided.
EXTRA_PROGRAMS = %D%/support/undecided
%C%_support_undecided_SOURCES = %D%/support/undecided.c
%C%_support_undecided_LDFLAGS = -Wl,--wrap=redlock_try
%C%_support_undecided_LDADD = $(bin_redlock_OBJECTS) $(bin_redlock_LDADD)
EXTRA_%C%_programs_test_run_lists_DEPENDENCIES = bin/redlock
EXTRA_%C%_programs_test_cli_service_DEPENDENCIES = bin/redlock
EXTRA_%C%_programs_test_cli_lists_DEPENDENCIES = bin/redlock
EXTRA_%C%_programs_test_cli_lies_DEPENDENCIES = bin/redlock
EXTRA_%C%_programs_test_cli_members_DEPENDENCIES = bin/redlock
EXTRA_%C%_programs_test_cli_rolling_DEPENDENCIES = bin/redlock
EXTRA_%C%_programs_test_cli_sentinels_DEPENDENCIES = bin/redlock
EXTRA_%C%_programs_test_cli_failover_DEPENDENCIES = bin/redlock
EXTRA_%C%_programs_test_run_clock_DEPENDENCIES = %D%/support/boot_clock.so
EXTRA_%C%_programs_test_run_at_least_DEPENDENCIES = %D%/support/signal_with_lock.so \
  %D%/support/signal_before_exec.so

# Check's time limit ends a test that hangs; it is no measure of a busy machine.
AM_TESTS_ENVIRONMENT = \
	srcdir='$(srcdir)'; export srcdir; \
	builddir='$(abs_builddir)'; export builddir; \
	CC='$(CC)'; export CC; \
	REDLOCK='$(abs_builddir)/bin/redlock'; export REDLOCK; \
	REDLOCK_BENCH='$(abs_builddir)/bin/redlock-bench'; export REDLOCK_BENCH; \
	REDLOCK_CHAOS='$(abs_builddir)/bin/redlock-chaos'; export REDLOCK_CHAOS; \
	REDLOCK_CLUSTER='$(abs_builddir)/bin/redlock-cluster'; export REDLOCK_CLUSTER; \
	CK_TIMEOUT_MULTIPLIER=10; export CK_TIMEOUT_MULTIPLIER;

TESTS = $(check_PROGRAMS) $(dist_check_SCRIPTS)
count-tests:
	@set -- $(TESTS) && echo $$#

# How each is run: beside a meter of the machine's stalls; again beside busy loops if it may have
# been late only.
LOG_DRIVER = $(SHELL) $(srcdir)/%D%/driver.sh
CLEANFILES += %D%/support/stall_meter %D%/support/busy_loops %D%/room.lock %D%/door.lock %D%/times flaky/*.log
EXTRA_DIST += %D%/driver.sh %D%/once_is_enough.txt %D%/support/stall_meter.c %D%/support/busy_loops.c
$(TEST_LOGS): %D%/support/stall_meter %D%/support/busy_loops
%D%/support/busy_loops: %D%/support/busy_loops.c config_auto.h
	$(AM_V_CCLD)mkdir -p %D%/support && $(CC) $(DEFS) -I. $(WARN_CFLAGS) -O2 -pthread -o $@ \
	  $(srcdir)/%D%/support/busy_loops.c
%D%/support/stall_meter: %D%/support/stall_meter.c %D%/support/stall.c %D%/support/stall.h config_auto.h
	$(AM_V_CCLD)mkdir -p %D%/support && $(CC) $(DEFS) -I. $(WARN_CFLAGS) -O2 -pthread -o $@ \
	  $(srcdir)/%D%/support/stall_meter.c $(srcdir)/%D%/support/stall.c

dist_check_SCRIPTS = %D%/programs/bench_test.sh \
	%D%/programs/bound_names_test.sh \
	%D%/programs/chaos_client_test.sh \
	%D%/programs/chaos_compose_test.sh %D%/programs/chaos_kinds_test.sh \
	%D%/programs/chaos_markers_test.sh %D%/programs/chaos_members_test.sh \
	%D%/programs/chaos_stall_test.sh %D%/programs/chaos_test.sh %D%/programs/cluster_test.sh \
	%D%/programs/completion_test.sh %D%/programs/cxx_test.sh %D%/programs/install_test.sh \
	%D%/operating/alerts_test.sh %D%/operating/operating_test.sh %D%/programs/pages_test.sh \
	%D%/programs/example_sql_test.sh %D%/programs/example_test.sh %D%/repo/abi_dump_test.sh %D%/repo/abi_test.sh %D%/repo/docs_test.sh \
	%D%/repo/driver_test.sh %D%/repo/events_test.sh %D%/repo/exports.sh %D%/repo/header.sh \
	%D%/repo/layers.sh %D%/repo/man_defaults.sh %D%/repo/manpages.sh %D%/repo/musl_test.sh %D%/repo/mutants_test.sh \
	%D%/repo/quickstart_test.sh %D%/repo/rules_test.sh %D%/repo/scripts_test.sh %D%/sim/sim_check.sh \
	%D%/sim/sim_stories_test.sh
check_PROGRAMS = $(fuzz_targets) %D%/repo/night
if HAVE_CHECK
check_PROGRAMS += $(check_tests)
endif
check_tests = %D%/core/test_refusal \
	%D%/faults/test_refusals \
	%D%/faults/test_tls_exit \
	%D%/api/test_at_least %D%/api/test_at_least_kinds %D%/api/test_host \
	%D%/api/test_async %D%/api/test_async_beside %D%/api/test_async_calls \
	%D%/api/test_async_close %D%/api/test_err %D%/api/test_fork %D%/api/test_inspect \
	%D%/api/test_inspect_owner %D%/api/test_oom %D%/api/test_process \
	%D%/api/test_query %D%/api/test_refused %D%/api/test_report \
	%D%/api/test_refused_names %D%/base/test_clock %D%/base/test_duration \
	%D%/base/test_entropy %D%/base/test_hash %D%/base/test_list %D%/base/test_mask %D%/base/test_prng \
	%D%/base/test_text \
	%D%/base/test_text_escape %D%/base/test_timer_heap %D%/config/test_config \
	%D%/config/test_config_alloc %D%/config/test_config_bad %D%/config/test_config_code \
	%D%/config/test_config_load %D%/config/test_config_secrets %D%/config/test_config_take \
	%D%/config/test_config_warn %D%/config/test_config_words %D%/config/test_host %D%/config/test_list_mark %D%/config/test_sentinel_lines %D%/config/test_password \
	%D%/config/test_password_memory %D%/config/test_url %D%/core/test_backoff %D%/core/test_certify %D%/core/test_clock_watch \
	%D%/core/test_driven %D%/core/test_fence %D%/core/test_gather %D%/core/test_hold %D%/core/test_hold_end %D%/core/test_hold_every \
	%D%/core/test_hold_extend %D%/core/test_hold_ordered %D%/core/test_hold_random \
	%D%/core/test_hold_back %D%/core/test_hold_keep %D%/core/test_hold_settle %D%/core/test_hold_void %D%/core/test_identity %D%/core/test_marker %D%/core/test_quorum \
	%D%/core/test_quorum_value %D%/core/test_reconnect %D%/core/test_server_info %D%/core/test_trust \
	%D%/core/test_validity %D%/core/test_waking \
	%D%/endpoint/test_endpoint %D%/engine/test_background %D%/engine/test_callbacks %D%/engine/test_kick \
	%D%/engine/test_lease_void %D%/engine/test_parking %D%/engine/test_target \
	%D%/engine/test_voters %D%/engine/test_sends %D%/engine/test_subscribers %D%/engine/test_threads \
	%D%/engine/test_wait_queue %D%/faults/test_absence %D%/faults/test_clock_back \
	%D%/faults/test_faults %D%/faults/test_hostile %D%/faults/test_lists_told %D%/faults/test_loss \
	%D%/faults/test_end_of_wait %D%/faults/test_failover %D%/faults/test_marked_masters %D%/faults/test_master_clocks %D%/faults/test_minority %D%/faults/test_native %D%/faults/test_old_clients %D%/faults/test_other_lists %D%/faults/test_peer_cases_a %D%/faults/test_peer_cases_b \
	%D%/faults/test_peer_cases_c %D%/faults/test_peer_cases_clock %D%/faults/test_peer_cases_e %D%/faults/test_strict_masters \
	%D%/faults/test_fill_in %D%/faults/test_recovery %D%/faults/test_sandbox %D%/faults/test_renew %D%/faults/test_rights \
	%D%/faults/test_renewals_many \
	%D%/faults/test_rights_told %D%/faults/test_wiped %D%/kinds/test_handle_text \
	%D%/kinds/test_key_rules %D%/kinds/test_keys %D%/kinds/test_kind %D%/kinds/test_kind_rows \
	%D%/kinds/test_kinds_denied %D%/kinds/test_lock_view %D%/kinds/test_name_set \
	%D%/kinds/test_owner %D%/kinds/test_script_error %D%/kinds/test_scripts \
	%D%/kinds/test_scripts_crowd %D%/kinds/test_scripts_fence %D%/kinds/test_scripts_foreign \
	%D%/kinds/test_scripts_lists %D%/kinds/test_scripts_look %D%/kinds/test_scripts_marker %D%/kinds/test_scripts_named \
	%D%/kinds/test_scripts_strict \
	%D%/locks/fair/test_fair %D%/locks/fair/test_fair_gone \
	%D%/locks/fair/test_fair_mixed %D%/locks/fair/test_scripts_fair \
	%D%/locks/fair/test_wait_fair %D%/locks/fence/test_fencing %D%/locks/fence/test_fencing_strict %D%/locks/plain/test_contend %D%/locks/plain/test_hold_real %D%/locks/plain/test_lazy %D%/locks/plain/test_lock_delay \
	%D%/locks/plain/test_quorum_real %D%/locks/plain/test_scripts_denied \
	%D%/locks/plain/test_scripts_model %D%/locks/plain/test_scripts_queue \
	%D%/locks/plain/test_scripts_wake %D%/locks/plain/test_wait \
	%D%/locks/plain/test_wait_faults %D%/locks/plain/test_wait_idle \
	%D%/locks/plain/test_wait_leave %D%/locks/quorum_rw/test_qrw \
	%D%/locks/quorum_rw/test_qrw_contend %D%/locks/quorum_rw/test_qrw_model \
	%D%/locks/redisson_rw/test_rw %D%/locks/redisson_rw/test_rw_crowd \
	%D%/locks/redisson_rw/test_rw_wait %D%/locks/redisson_rw/test_scripts_rw \
	%D%/locks/redisson_rw/test_scripts_rw_odd %D%/locks/reentrant/test_reentrant \
	%D%/locks/reentrant/test_reentrant_denied %D%/locks/reentrant/test_reentrant_lost \
	%D%/locks/reentrant/test_reentrant_owner %D%/locks/reentrant/test_reentrant_peer \
	%D%/locks/reentrant/test_scripts_reentrant %D%/locks/reentrant/test_wait_channel \
	%D%/locks/reentrant/test_wait_channel_who %D%/locks/several/test_many \
	%D%/locks/several/test_scripts_several %D%/locks/several/test_several \
	%D%/locks/several/test_several_wait %D%/net/test_fence_certificate \
	%D%/net/test_link %D%/net/test_link_alloc \
	%D%/net/test_link_connect %D%/net/test_link_life %D%/net/test_link_names \
	%D%/net/test_link_tls %D%/net/test_link_unix %D%/net/test_mask_real %D%/net/test_resolve \
	%D%/net/test_resp %D%/net/test_resp_writer %D%/net/test_tls %D%/net/test_tls_context \
	%D%/net/test_tls_data %D%/net/test_tls_end %D%/net/test_tls_renew %D%/node/test_channel \
	%D%/node/test_fitness %D%/node/test_fitness_real %D%/node/test_native_reply \
	%D%/node/test_node_clock %D%/node/test_node_term \
	%D%/node/test_standing %D%/node/test_subscriber %D%/node/test_usual_reply \
	%D%/node/test_subscriber_bytes %D%/node/test_subscriber_channels \
	%D%/node/test_subscriber_denied %D%/node/test_subscriber_hold \
	%D%/node/test_subscriber_life %D%/node/test_subscriber_peer %D%/programs/test_chaos_check \
	%D%/programs/test_chaos_assumptions %D%/programs/test_chaos_figures \
	%D%/programs/test_chaos_keys %D%/programs/test_chaos_progress %D%/programs/test_chaos_lose \
	%D%/programs/test_chaos_proxy \
	%D%/programs/test_chaos_report %D%/programs/test_chaos_schedule \
	%D%/programs/test_chaos_shared %D%/programs/test_chaos_stall %D%/programs/test_chaos_store %D%/programs/test_chaos_client_protocol \
	%D%/programs/test_cli %D%/programs/test_cli_acl %D%/programs/test_cli_assume %D%/programs/test_cli_break %D%/programs/test_cli_fenced %D%/programs/test_cli_init \
	%D%/programs/test_cli_holders %D%/programs/test_cli_lists %D%/programs/test_cli_members \
	%D%/programs/test_cli_rolling %D%/programs/test_cli_sentinels %D%/programs/test_cli_failover \
	%D%/programs/test_cli_blind \
	%D%/programs/test_cli_tls \
	%D%/programs/test_cli_two_servers %D%/programs/test_cli_others_keys \
	%D%/core/test_sightings %D%/core/test_statement %D%/core/test_witness %D%/core/test_unheard %D%/faults/test_two_addresses %D%/faults/test_two_servers \
	%D%/programs/test_cli_json \
	%D%/programs/test_cli_schema \
	%D%/programs/test_cli_kinds %D%/programs/test_cli_lock %D%/programs/test_cli_look \
	%D%/programs/test_cli_nested %D%/programs/test_cli_nodes %D%/programs/test_cli_rights %D%/programs/test_cli_status \
	%D%/programs/test_cli_lies %D%/kinds/test_rights_named \
	%D%/programs/test_cli_replay %D%/programs/test_cli_service \
	%D%/programs/test_example_asio %D%/programs/test_example_fenced_store \
	%D%/programs/test_example_libevent %D%/programs/test_example_libuv \
	%D%/programs/test_example_poll %D%/programs/test_run %D%/programs/test_run_clock \
	%D%/programs/test_run_guard %D%/programs/test_run_hold %D%/programs/test_run_kinds \
	%D%/programs/test_run_at_least %D%/programs/test_run_loss %D%/programs/test_run_lists %D%/programs/test_run_notify \
	%D%/core/test_outcome %D%/core/test_presence \
	%D%/faults/test_told \
	%D%/programs/test_run_lost %D%/programs/test_run_signals %D%/programs/test_run_terminal \
	%D%/model/test_model \
	%D%/sim/test_sim_base %D%/sim/test_sim_ends %D%/sim/test_sim_fds %D%/sim/test_sim_hole \
	%D%/sim/test_sim_leaf %D%/sim/test_sim_master %D%/sim/test_sim_master_faults \
	%D%/sim/test_sim_master_life %D%/sim/test_sim_sentinel %D%/sim/test_sim_master_queue %D%/sim/test_sim_master_real \
	%D%/sim/test_sim_master_states %D%/sim/test_sim_net %D%/sim/test_sim_proc %D%/sim/test_sim_threads \
	%D%/support/test_sentinels %D%/support/test_support

# `make check` runs their corpora; fuzz/fuzz.sh looks for more.
fuzz_targets = %D%/fuzz/fuzz_config %D%/fuzz/fuzz_reply %D%/fuzz/fuzz_sub %D%/fuzz/fuzz_text \
	%D%/fuzz/fuzz_tools %D%/fuzz/fuzz_view
%C%_fuzz_fuzz_tools_CPPFLAGS = $(AM_CPPFLAGS) -iquote $(top_srcdir)/tools
# A main() of its own, too.
%C%_repo_night_LDADD = libredlock-core.la $(DEPS_LIBS)
# The programs as far as they read what comes from outside. fuzz.sh has the same.
fuzz_tools_objects = tools/redlock/bin_redlock-cli_check.$(OBJEXT) \
	tools/redlock/bin_redlock-cli_client.$(OBJEXT) \
	tools/redlock/bin_redlock-cli_help.$(OBJEXT) tools/redlock/bin_redlock-cli_nodes.$(OBJEXT) \
	tools/redlock/bin_redlock-cli_options.$(OBJEXT) \
	tools/redlock/bin_redlock-cli_out.$(OBJEXT) \
	tools/redlock/bin_redlock-cli_outcome.$(OBJEXT) \
	tools/redlock/bin_redlock-cli_values.$(OBJEXT) \
	tools/redlock/bin_redlock-client_list.$(OBJEXT) tools/redlock/bin_redlock-rights.$(OBJEXT) \
	tools/redlock/bin_redlock-status_peers.$(OBJEXT) \
	tools/bench/bin_redlock_bench-options.$(OBJEXT)
%C%_fuzz_fuzz_tools_LDADD = $(fuzz_tools_objects) $(LDADD)

# Their main(): libsupport's is that of programs with tests of their own.
fuzz_main = %D%/fuzz/standalone.c %D%/fuzz/fuzz.h
%C%_fuzz_fuzz_config_SOURCES = %D%/fuzz/fuzz_config.c $(fuzz_main)
%C%_fuzz_fuzz_text_SOURCES = %D%/fuzz/fuzz_text.c $(fuzz_main)
%C%_fuzz_fuzz_tools_SOURCES = %D%/fuzz/fuzz_tools.c $(fuzz_main)
%C%_fuzz_fuzz_view_SOURCES = %D%/fuzz/fuzz_view.c $(fuzz_main)
# Instead of the library's links.
fuzz_link = %D%/fuzz/input_link.c %D%/fuzz/input_link.h
%C%_fuzz_fuzz_reply_SOURCES = %D%/fuzz/fuzz_reply.c $(fuzz_main) $(fuzz_link)
%C%_node_test_usual_reply_SOURCES = %D%/node/test_usual_reply.c $(fuzz_link)
%C%_fuzz_fuzz_sub_SOURCES = %D%/fuzz/fuzz_sub.c $(fuzz_main) $(fuzz_link)
EXTRA_DIST += %D%/programs/cxx.cc %D%/programs/completion.zsh
EXTRA_DIST += %D%/fuzz/fuzz.sh %D%/fuzz/reply.dict %D%/fuzz/corpus

# Links, and system calls that do as a test wants: no other test must have these.
link_scene = %D%/support/link_scene.c %D%/support/link_scene.h
%C%_net_test_link_SOURCES = %D%/net/test_link.c $(link_scene)
%C%_net_test_link_connect_SOURCES = %D%/net/test_link_connect.c $(link_scene)
%C%_net_test_link_life_SOURCES = %D%/net/test_link_life.c $(link_scene)
%C%_net_test_link_names_SOURCES = %D%/net/test_link_names.c $(link_scene)

# hiredis's own encoder is its oracle.
%C%_net_test_resp_writer_LDADD = $(LDADD) $(HIREDIS_LIBS)

# It sees what the library gives back.
%C%_faults_test_wiped_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=free

# One program an event loop, so that one without its loop is seen to be skipped.
status_facts = tools/redlock/status_facts.c tools/redlock/status_facts.h
%C%_programs_test_cli_assume_SOURCES = %D%/programs/test_cli_assume.c $(status_facts)
%C%_programs_test_example_poll_SOURCES = %D%/programs/example_loop.c
%C%_programs_test_example_poll_CPPFLAGS = $(AM_CPPFLAGS) -DEXAMPLE='"poll"' -DFOUND='"yes"'
%C%_programs_test_example_asio_SOURCES = %D%/programs/example_loop.c
%C%_programs_test_example_asio_CPPFLAGS = $(AM_CPPFLAGS) -DEXAMPLE='"asio"' \
	-DFOUND='"$(have_asio)"'
%C%_programs_test_example_libuv_SOURCES = %D%/programs/example_loop.c
%C%_programs_test_example_libuv_CPPFLAGS = $(AM_CPPFLAGS) -DEXAMPLE='"libuv"' \
	-DFOUND='"$(have_libuv)"'
%C%_programs_test_example_libevent_SOURCES = %D%/programs/example_loop.c
%C%_programs_test_example_libevent_CPPFLAGS = $(AM_CPPFLAGS) -DEXAMPLE='"libevent"' \
	-DFOUND='"$(have_libevent)"'

EXTRA_DIST += %D%/tagged.sh %D%/repo/coverage.py %D%/repo/coverage_allowed.txt \
	%D%/repo/bench_by_turns.py %D%/repo/bench_table.py %D%/repo/layers.txt %D%/programs/example_readme.c \
	%D%/repo/abi_header.awk %D%/repo/abi_program.c %D%/support/chaos_rig.sh \
	%D%/support/shell_rig.sh

# ---- other ways to run them ------------------------------------------------------------

# `make check` builds all tests before it runs those that TESTS names.
check-one:
	@test -n "$(T)" || { echo "usage: make check-one T='%D%/core/test_hold %D%/repo/layers.sh'" >&2; exit 64; }
	@programs=`for t in $(T); do case $$t in *.sh) ;; *) printf '%s ' $$t ;; esac; done`; \
	$(MAKE) $(AM_MAKEFLAGS) all && $(MAKE) $(AM_MAKEFLAGS) $$programs && \
	$(MAKE) $(AM_MAKEFLAGS) check check_PROGRAMS="$$programs" TESTS="$(T)"

# Those in which threads meet: what ThreadSanitizer is run on.
check-thread:
	tests=`cd $(srcdir) && sh %D%/tagged.sh threads` && \
	$(MAKE) $(AM_MAKEFLAGS) check check_PROGRAMS="$$tests" TESTS="$$tests"

# Test programs again, and what they fork, under valgrind: the library's own memory, and that
# of the calls; where seconds are measured, or ASan has been, it would tell nothing more.
VALGRIND = valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
	--show-leak-kinds=definite
check-valgrind:
	tests=`cd $(srcdir) && sh %D%/tagged.sh valgrind` && \
	$(MAKE) $(AM_MAKEFLAGS) check check_PROGRAMS="$$tests" TESTS="$$tests" \
	  LOG_COMPILER='$(VALGRIND)'

# What the tests reach, in a build that was configured with --enable-coverage --disable-shared.
coverage:
	find . -name '*.gcda' -exec rm -f {} +
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(check_PROGRAMS)'
	python3 $(srcdir)/%D%/repo/coverage.py $(srcdir) .

# Proofs of the core's arithmetic, for which Frama-C must be installed.
check-proof:
	srcdir=$(srcdir) sh $(srcdir)/%D%/proof/prove.sh
EXTRA_DIST += %D%/proof
.PHONY: need-check check-one check-thread count-tests check-valgrind check-proof coverage
