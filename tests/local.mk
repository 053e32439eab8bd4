# local.mk - the tests, and how they are run.

check_LIBRARIES = %D%/libsupport.a
%C%_libsupport_a_SOURCES = %D%/support/alloc.c %D%/support/alloc.h %D%/support/ask.c \
	%D%/support/child.c %D%/support/child.h %D%/support/cli_rig.c \
	%D%/support/cli_rig.h %D%/support/client.c %D%/support/client.h \
	%D%/support/clients.c %D%/support/clients.h %D%/support/conf.c \
	%D%/support/conf.h %D%/support/fake.c %D%/support/fake.h \
	%D%/support/fake_dns.c %D%/support/fake_dns.h %D%/support/fake_internal.h \
	%D%/support/fake_keys.c %D%/support/fake_keys.h %D%/support/fake_serve.c \
	%D%/support/fakes.c %D%/support/json.c %D%/support/json.h \
	%D%/support/loopback.c %D%/support/loopback.h %D%/support/masters.c \
	%D%/support/masters.h %D%/support/net.c %D%/support/net.h \
	%D%/support/node_list.c %D%/support/program.c %D%/support/program.h \
	%D%/support/proxy.c %D%/support/proxy.h %D%/support/rig.c %D%/support/rig.h \
	%D%/support/run_scene.c %D%/support/run_scene.h %D%/support/sub_rig.c \
	%D%/support/sub_rig.h %D%/support/sub_scene.c %D%/support/sub_scene.h \
	%D%/support/script_talk.c %D%/support/script_talk.h %D%/support/suite.c \
	%D%/support/suite.h %D%/support/terminal.c %D%/support/terminal.h \
	%D%/support/tls_certs.c %D%/support/tls_certs.h %D%/support/tls_pair.c \
	%D%/support/tls_pair.h %D%/support/tls_scene.c %D%/support/tls_scene.h \
	%D%/support/told.c %D%/support/told.h %D%/support/waiter.c \
	%D%/support/waiter.h %D%/support/wire.c %D%/support/wire.h

# Loaded into programs by tests that set their clock back.
CLEANFILES += %D%/support/boot_clock.so
EXTRA_DIST += %D%/support/boot_clock.c
%D%/support/boot_clock.so: %D%/support/boot_clock.c config_auto.h
	$(AM_V_CCLD)mkdir -p %D%/support && $(CC) $(DEFS) -I. $(WARN_CFLAGS) $(CFLAGS) -fPIC \
	  -shared -o $@ $(srcdir)/%D%/support/boot_clock.c

EXTRA_%C%_test_peer_cases_clock_DEPENDENCIES = bin/server_clock.so
EXTRA_%C%_test_run_clock_DEPENDENCIES = %D%/support/boot_clock.so

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

# The models against the masters: what is tested there are the scripts, in whatever build.
model_tests = %D%/test_qrw_model %D%/test_scripts_fair %D%/test_scripts_model \
	%D%/test_scripts_reentrant %D%/test_scripts_rw %D%/test_scripts_several

# lib/engine/client.h is meant, not the tests' own.
%C%_test_notice_CPPFLAGS = $(LIB_CPPFLAGS)

# Those in which a sanitizer has little of the library to look at, those that hold the program
# as it ships to its deadlines, and one that looks at stacks, which a sanitizer lays out anew.
unsanitized_tests = $(model_tests) %D%/test_chaos_schedule %D%/test_fair_gone \
	%D%/test_fitness_real %D%/test_run_clock %D%/test_run_guard %D%/test_run_kinds \
	%D%/test_run_lost %D%/test_secret_memory

# Those that take longest and learn nothing from being run again out of the tarball.
long_tests = $(model_tests) %D%/bench_test.sh %D%/chaos_client_test.sh \
	%D%/chaos_compose_test.sh %D%/chaos_kinds_test.sh %D%/chaos_stall_test.sh \
	%D%/chaos_test.sh %D%/example_test.sh %D%/sim_check.sh %D%/sim_stories_test.sh \
	%D%/test_fair_gone %D%/test_fitness_real %D%/test_hostile %D%/test_loss \
	%D%/test_peer_cases_b %D%/test_qrw %D%/test_reentrant_lost %D%/test_renew \
	%D%/test_run_guard %D%/test_run_hold %D%/test_run_kinds %D%/test_run_lost \
	%D%/test_several_wait

# Those in which threads meet: what ThreadSanitizer is run on.
thread_tests = %D%/test_contend %D%/test_async %D%/test_async_beside \
	%D%/test_async_calls %D%/test_async_close %D%/test_drive %D%/test_fair \
	%D%/test_fair_mixed %D%/test_faults %D%/test_fork %D%/test_hold_real \
	%D%/test_link_names %D%/test_loss %D%/test_many %D%/test_mask \
	%D%/test_mask_real %D%/test_process %D%/test_quorum_real %D%/test_absence \
	%D%/test_recovery %D%/test_reentrant %D%/test_reentrant_lost \
	%D%/test_reentrant_owner %D%/test_reentrant_peer %D%/test_renew \
	%D%/test_resolve %D%/test_run %D%/test_run_hold %D%/test_several \
	%D%/test_sub %D%/test_sub_denied %D%/test_threads %D%/test_wait_channel \
	%D%/test_wait_channel_who %D%/test_wait_faults %D%/test_wait_leave
check-thread:
	$(MAKE) $(AM_MAKEFLAGS) check check_PROGRAMS='$(thread_tests)' TESTS='$(thread_tests)'
.PHONY: check-thread

# What the tests reach, in a build that was configured with --enable-coverage --disable-shared.
coverage:
	find . -name '*.gcda' -exec rm -f {} +
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(check_PROGRAMS)'
	python3 $(srcdir)/%D%/coverage.py $(srcdir) .
.PHONY: coverage
EXTRA_DIST += %D%/coverage.py %D%/coverage_allowed.txt

# Test programs again, and what they fork, under valgrind: the library's own memory, and that
# of the calls; where seconds are measured, or ASan has been, it would tell nothing more.
valgrind_tests = %D%/test_config %D%/test_handle %D%/test_hold %D%/test_hold_end \
	%D%/test_hold_extend %D%/test_hold_settle %D%/test_identity %D%/test_info \
	%D%/test_link %D%/test_link_tls %D%/test_quorum %D%/test_sub_bytes \
	%D%/test_sub_hold %D%/test_sub_peer %D%/test_tls %D%/test_url \
	%D%/fuzz/fuzz_config %D%/fuzz/fuzz_reply %D%/fuzz/fuzz_sub %D%/fuzz/fuzz_text \
	%D%/fuzz/fuzz_view
VALGRIND = valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
	--show-leak-kinds=definite
check-valgrind:
	$(MAKE) $(AM_MAKEFLAGS) check check_PROGRAMS='$(valgrind_tests)' \
	  TESTS='$(valgrind_tests)' LOG_COMPILER='$(VALGRIND)'
.PHONY: check-valgrind

# What a program links that says nothing else: the tests.
LDADD = %D%/libsupport.a libredlock-core.la $(CHECK_LIBS) $(DEPS_LIBS)
dist_check_SCRIPTS = %D%/bench_test.sh %D%/chaos_client_test.sh %D%/chaos_compose_test.sh \
	%D%/chaos_kinds_test.sh %D%/chaos_stall_test.sh %D%/chaos_test.sh %D%/cluster_test.sh \
	%D%/exports.sh %D%/header.sh %D%/musl_test.sh %D%/layers.sh %D%/man_defaults.sh \
	%D%/quickstart_test.sh %D%/scripts_test.sh
check_PROGRAMS =
if HAVE_CHECK
check_PROGRAMS += $(check_tests)
endif
check_tests = %D%/test_async %D%/test_async_beside %D%/test_async_calls \
	%D%/test_async_close %D%/test_backoff %D%/test_chaos_check \
	%D%/test_chaos_excuse %D%/test_chaos_figures %D%/test_chaos_keys \
	%D%/test_chaos_live %D%/test_chaos_talk %D%/test_chaos_proxy \
	%D%/test_chaos_report %D%/test_chaos_schedule %D%/test_chaos_shared \
	%D%/test_chaos_stall %D%/test_cli %D%/test_cli_break %D%/test_cli_kinds \
	%D%/test_cli_lock %D%/test_cli_json %D%/test_cli_look %D%/test_cli_nodes \
	%D%/test_cli_nested %D%/test_cli_status %D%/test_clock %D%/test_clock_back \
	%D%/test_config %D%/test_config_alloc %D%/test_config_bad %D%/test_config_code \
	%D%/test_config_load %D%/test_config_secrets %D%/test_config_take \
	%D%/test_config_warn %D%/test_describe %D%/test_drive %D%/test_contend \
	%D%/test_duration %D%/test_ear %D%/test_entropy %D%/test_err \
	%D%/test_example_libevent %D%/test_example_libuv %D%/test_example_poll \
	%D%/test_fair %D%/test_fair_gone %D%/test_fair_mixed %D%/test_faults \
	%D%/test_fitness %D%/test_fitness_real %D%/test_fork %D%/test_handle \
	%D%/test_hold %D%/test_hold_count %D%/test_hold_end %D%/test_hold_every \
	%D%/test_hold_extend %D%/test_hold_ordered %D%/test_hold_random \
	%D%/test_hold_real %D%/test_hold_settle %D%/test_host %D%/test_hostile \
	%D%/test_identity %D%/test_info %D%/test_key %D%/test_key_rules \
	%D%/test_kind %D%/test_kind_rows %D%/test_kinds_denied %D%/test_line \
	%D%/test_link %D%/test_link_alloc %D%/test_link_connect %D%/test_link_life \
	%D%/test_link_names %D%/test_link_tls %D%/test_link_unix %D%/test_loss \
	%D%/test_many %D%/test_mask %D%/test_mask_real %D%/test_minority \
	%D%/test_names %D%/test_notice %D%/test_numbers %D%/test_oom \
	%D%/test_peer_cases_a %D%/test_peer_cases_b %D%/test_peer_cases_c \
	%D%/test_peer_cases_e %D%/test_peer_cases_clock %D%/test_printable \
	%D%/test_owner %D%/test_prng %D%/test_process %D%/test_qrw \
	%D%/test_qrw_contend %D%/test_qrw_model %D%/test_quorum %D%/test_quorum_real \
	%D%/test_refused %D%/test_refused_names %D%/test_absence %D%/test_recovery \
	%D%/test_reentrant %D%/test_reentrant_denied %D%/test_reentrant_lost \
	%D%/test_reentrant_owner %D%/test_reentrant_peer %D%/test_renew \
	%D%/test_resolve %D%/test_resp %D%/test_resp_out %D%/test_driven \
	%D%/test_retry %D%/test_rights %D%/test_rights_told %D%/test_run \
	%D%/test_run_clock %D%/test_run_guard %D%/test_run_hold %D%/test_run_kinds \
	%D%/test_run_lost %D%/test_run_signals %D%/test_run_terminal %D%/test_rw \
	%D%/test_rw_crowd %D%/test_rw_wait %D%/test_scripts %D%/test_scripts_denied \
	%D%/test_scripts_fair %D%/test_scripts_look %D%/test_scripts_model \
	%D%/test_scripts_reentrant %D%/test_scripts_queue %D%/test_scripts_rw \
	%D%/test_scripts_rw_odd %D%/test_scripts_several %D%/test_scripts_wake \
	%D%/test_script_error %D%/test_secret %D%/test_secret_memory %D%/test_several \
	%D%/test_several_wait %D%/test_sim_base %D%/test_sim_ends %D%/test_sim_fds \
	%D%/test_sim_hole %D%/test_sim_master %D%/test_sim_master_faults \
	%D%/test_sim_master_life %D%/test_sim_master_real %D%/test_sim_master_states \
	%D%/test_sim_leaf %D%/test_sim_net %D%/test_sim_proc %D%/test_sim_threads \
	%D%/test_sub %D%/test_sub_bytes %D%/test_sub_denied %D%/test_sub_ears \
	%D%/test_sub_hold %D%/test_sub_life %D%/test_sub_peer %D%/test_support \
	%D%/test_text %D%/test_threads %D%/test_timer %D%/test_tls \
	%D%/test_tls_context %D%/test_tls_data %D%/test_tls_end %D%/test_tls_renew \
	%D%/test_url %D%/test_view %D%/test_wait %D%/test_wait_channel \
	%D%/test_wait_channel_who %D%/test_wait_fair %D%/test_wait_faults \
	%D%/test_wait_idle %D%/test_wait_leave %D%/test_wiped


# The stories of the hold, and the random world around it.
hold_story = %D%/hold_story.c %D%/hold_story.h
%C%_test_hold_SOURCES = %D%/test_hold.c $(hold_story)
%C%_test_hold_end_SOURCES = %D%/test_hold_end.c $(hold_story)
%C%_test_hold_extend_SOURCES = %D%/test_hold_extend.c $(hold_story)
%C%_test_hold_ordered_SOURCES = %D%/test_hold_ordered.c $(hold_story)
%C%_test_hold_settle_SOURCES = %D%/test_hold_settle.c $(hold_story)
%C%_test_hold_random_SOURCES = %D%/test_hold_random.c %D%/hold_check.c \
	%D%/hold_client.c %D%/hold_world.c %D%/hold_world.h
%C%_test_hold_every_SOURCES = %D%/test_hold_every.c %D%/hold_space.c \
	%D%/hold_space_check.c %D%/hold_space.h

# What redlock-chaos plans, and how it comes between.
%C%_test_chaos_proxy_SOURCES = %D%/test_chaos_proxy.c tools/chaos/place/pipe.c \
	tools/chaos/place/proxy.c tools/chaos/place/proxy_loop.c tools/chaos/check/heart.c
%C%_test_chaos_proxy_CPPFLAGS = $(chaos_test_cppflags)
%C%_test_chaos_talk_SOURCES = %D%/test_chaos_talk.c tools/chaos/workload/lines.c tools/chaos/workload/talk.c
%C%_test_chaos_talk_CPPFLAGS = $(chaos_test_cppflags)
%C%_test_chaos_schedule_SOURCES = %D%/test_chaos_schedule.c tools/chaos/faults/kinds.c \
	tools/chaos/faults/schedule.c
%C%_test_chaos_schedule_CPPFLAGS = $(chaos_test_cppflags)

# What redlock-chaos makes of a run, on made-up ones.
chaos_judge = tools/chaos/check/able.c tools/chaos/check/check.c \
	tools/chaos/check/check_keys.c tools/chaos/check/check_record.c \
	tools/chaos/faults/excuse.c tools/chaos/faults/kinds.c tools/chaos/report/out.c \
	tools/chaos/faults/reach.c tools/chaos/report/series.c tools/chaos/check/stall.c \
	tools/chaos/report/stats.c tools/chaos/report/stats_gaps.c tools/chaos/check/story.c \
	tools/chaos/check/verdict.c
chaos_pages = tools/chaos/report/chart.c tools/chaos/report/html.c \
	tools/chaos/report/html_figures.c tools/chaos/report/html_style.c \
	tools/chaos/report/html_tables.c tools/chaos/report/json.c tools/chaos/report/svg.c \
	tools/chaos/report/svg_charts.c tools/chaos/report/svg_close.c \
	tools/chaos/report/svg_histogram.c tools/chaos/report/svg_holds.c \
	tools/chaos/report/svg_timeline.c
chaos_made = %D%/chaos_made.c %D%/chaos_made.h %D%/chaos_made_run.c
chaos_test_cppflags = $(AM_CPPFLAGS) -iquote $(top_srcdir)/tools
%C%_test_chaos_check_SOURCES = %D%/test_chaos_check.c $(chaos_made) $(chaos_judge)
%C%_test_chaos_check_CPPFLAGS = $(chaos_test_cppflags)
%C%_test_chaos_shared_SOURCES = %D%/test_chaos_shared.c $(chaos_made) $(chaos_judge)
%C%_test_chaos_shared_CPPFLAGS = $(chaos_test_cppflags)
%C%_test_chaos_stall_SOURCES = %D%/test_chaos_stall.c $(chaos_made) $(chaos_judge)
%C%_test_chaos_stall_CPPFLAGS = $(chaos_test_cppflags)
%C%_test_chaos_excuse_SOURCES = %D%/test_chaos_excuse.c $(chaos_made) $(chaos_judge)
%C%_test_chaos_excuse_CPPFLAGS = $(chaos_test_cppflags)
%C%_test_chaos_keys_SOURCES = %D%/test_chaos_keys.c $(chaos_made) $(chaos_judge)
%C%_test_chaos_keys_CPPFLAGS = $(chaos_test_cppflags)
%C%_test_chaos_figures_SOURCES = %D%/test_chaos_figures.c $(chaos_made) $(chaos_judge)
%C%_test_chaos_figures_CPPFLAGS = $(chaos_test_cppflags)
%C%_test_chaos_live_SOURCES = %D%/test_chaos_live.c tools/chaos/faults/kinds.c \
	tools/chaos/report/live.c tools/chaos/report/out.c
%C%_test_chaos_live_CPPFLAGS = $(chaos_test_cppflags)
%C%_test_chaos_report_SOURCES = %D%/test_chaos_report.c %D%/page_check.c \
	%D%/page_check.h $(chaos_made) $(chaos_judge) $(chaos_pages)
%C%_test_chaos_report_CPPFLAGS = $(chaos_test_cppflags)

# One link, and its other end.
link_scene = %D%/link_scene.c %D%/link_scene.h
%C%_test_link_SOURCES = %D%/test_link.c $(link_scene)
%C%_test_link_connect_SOURCES = %D%/test_link_connect.c $(link_scene)
%C%_test_link_life_SOURCES = %D%/test_link_life.c $(link_scene)
%C%_test_link_names_SOURCES = %D%/test_link_names.c $(link_scene)

# One lock, and who holds it, waits for it and listens.
wait_scene = %D%/wait_scene.c %D%/wait_scene.h
%C%_test_minority_SOURCES = %D%/test_minority.c $(wait_scene)
%C%_test_peer_cases_e_SOURCES = %D%/test_peer_cases_e.c $(wait_scene)
%C%_test_several_SOURCES = %D%/test_several.c $(wait_scene)
%C%_test_several_wait_SOURCES = %D%/test_several_wait.c $(wait_scene)
%C%_test_wait_SOURCES = %D%/test_wait.c $(wait_scene)
%C%_test_wait_faults_SOURCES = %D%/test_wait_faults.c $(wait_scene)
%C%_test_wait_idle_SOURCES = %D%/test_wait_idle.c $(wait_scene)
channel_scene = %D%/channel_scene.c %D%/channel_scene.h $(wait_scene)
fair_scene = %D%/fair_scene.c %D%/fair_scene.h %D%/fair_peer.c %D%/fair_peer.h \
	$(channel_scene)
%C%_test_fair_SOURCES = %D%/test_fair.c $(fair_scene)
%C%_test_fair_gone_SOURCES = %D%/test_fair_gone.c $(fair_scene)
%C%_test_fair_mixed_SOURCES = %D%/test_fair_mixed.c $(fair_scene)
%C%_test_wait_channel_SOURCES = %D%/test_wait_channel.c $(channel_scene)
%C%_test_wait_channel_who_SOURCES = %D%/test_wait_channel_who.c $(channel_scene)
%C%_test_wait_fair_SOURCES = %D%/test_wait_fair.c $(channel_scene)
scripts_scene = %D%/scripts_scene.c %D%/scripts_scene.h
%C%_test_scripts_denied_SOURCES = %D%/test_scripts_denied.c $(scripts_scene)
reentrant_scene = %D%/reentrant_scene.c %D%/reentrant_scene.h $(wait_scene)
%C%_test_hold_count_SOURCES = %D%/test_hold_count.c $(reentrant_scene)
%C%_test_reentrant_SOURCES = %D%/test_reentrant.c $(reentrant_scene)
%C%_test_reentrant_lost_SOURCES = %D%/test_reentrant_lost.c $(reentrant_scene)
%C%_test_reentrant_peer_SOURCES = %D%/test_reentrant_peer.c $(reentrant_scene)
%C%_test_reentrant_owner_SOURCES = %D%/test_reentrant_owner.c $(reentrant_scene)
%C%_test_scripts_reentrant_SOURCES = %D%/test_scripts_reentrant.c %D%/reentrant_model.c \
	%D%/reentrant_model.h %D%/model_frame.c %D%/model_frame.h
%C%_test_scripts_fair_SOURCES = %D%/test_scripts_fair.c %D%/fair_model.c \
	%D%/fair_model.h %D%/fair_peer.c %D%/fair_peer.h %D%/reentrant_model.c \
	%D%/reentrant_model.h %D%/model_frame.c %D%/model_frame.h
rw_scene = %D%/rw_scene.c %D%/rw_scene.h $(wait_scene)
%C%_test_rw_SOURCES = %D%/test_rw.c $(rw_scene)
%C%_test_rw_crowd_SOURCES = %D%/test_rw_crowd.c $(rw_scene)
%C%_test_rw_wait_SOURCES = %D%/test_rw_wait.c $(rw_scene)
%C%_test_scripts_rw_odd_SOURCES = %D%/test_scripts_rw_odd.c $(scripts_scene)
%C%_test_scripts_rw_SOURCES = %D%/test_scripts_rw.c %D%/rw_model.c %D%/rw_model.h \
	%D%/rw_world.c %D%/rw_world.h %D%/model_frame.c %D%/model_frame.h
%C%_test_scripts_look_SOURCES = %D%/test_scripts_look.c $(scripts_scene)
%C%_test_scripts_several_SOURCES = %D%/test_scripts_several.c %D%/several_model.c \
	%D%/several_model.h %D%/scripts_model.c %D%/scripts_model.h %D%/model_frame.c \
	%D%/model_frame.h
%C%_test_scripts_model_SOURCES = %D%/test_scripts_model.c %D%/scripts_model.c \
	%D%/scripts_model.h %D%/model_frame.c %D%/model_frame.h
%C%_test_qrw_SOURCES = %D%/test_qrw.c $(rw_scene)
%C%_test_qrw_contend_SOURCES = %D%/test_qrw_contend.c $(rw_scene)
%C%_test_qrw_model_SOURCES = %D%/test_qrw_model.c %D%/qrw_model.c %D%/qrw_model.h
%C%_test_scripts_wake_SOURCES = %D%/test_scripts_wake.c $(scripts_scene)

# It sees what the library gives back.
%C%_test_wiped_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=free

# What the simulator stands on.
%C%_test_sim_base_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_base_LDADD = $(sim_rig_ldadd)
sim_scene = %D%/sim_scene.c %D%/sim_scene.h
%C%_test_sim_leaf_SOURCES = %D%/test_sim_leaf.c $(sim_scene)
%C%_test_sim_leaf_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_leaf_LDADD = $(sim_rig_ldadd)
%C%_test_sim_proc_SOURCES = %D%/test_sim_proc.c $(sim_scene)
%C%_test_sim_proc_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_proc_LDADD = $(sim_rig_ldadd)
%C%_test_sim_threads_SOURCES = %D%/test_sim_threads.c $(sim_scene)
%C%_test_sim_threads_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_threads_LDADD = $(sim_rig_ldadd)
# The simulated network, with masters that echo. Check's own calls are bound as well, hence
# the libraries once more after it.
sim_net_rig = %D%/sim_net_rig.c %D%/sim_net_rig.h
sim_rig_cppflags = $(AM_CPPFLAGS) -iquote $(top_srcdir)/tests/sim
sim_rig_ldadd = %D%/libsupport.a $(SIM_LIBS) $(CHECK_LIBS) $(SIM_LIBS)
%C%_test_sim_ends_SOURCES = %D%/test_sim_ends.c $(sim_net_rig)
%C%_test_sim_ends_CPPFLAGS = $(sim_rig_cppflags)
%C%_test_sim_ends_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_ends_LDADD = $(sim_rig_ldadd)
%C%_test_sim_fds_SOURCES = %D%/test_sim_fds.c $(sim_net_rig)
%C%_test_sim_fds_CPPFLAGS = $(sim_rig_cppflags)
%C%_test_sim_fds_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_fds_LDADD = $(sim_rig_ldadd)
%C%_test_sim_hole_SOURCES = %D%/test_sim_hole.c $(sim_net_rig)
%C%_test_sim_hole_CPPFLAGS = $(sim_rig_cppflags)
%C%_test_sim_hole_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_hole_LDADD = $(sim_rig_ldadd)
%C%_test_sim_net_SOURCES = %D%/test_sim_net.c $(sim_net_rig)
%C%_test_sim_net_CPPFLAGS = $(sim_rig_cppflags)
%C%_test_sim_net_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_net_LDADD = $(sim_rig_ldadd)

# Model masters without a network, and next to a real one. Nothing is bound.
sim_master_rig = %D%/sim_master_rig.c %D%/sim_master_rig.h
sim_master_one = $(sim_master_rig) %D%/sim_master_one.c %D%/sim_master_one.h
sim_real_pair = %D%/sim_real_pair.c %D%/sim_real_pair.h %D%/sim_real_words.c \
	%D%/sim_real_words.h %D%/sim_real_lines.c %D%/sim_real_some.c %D%/sim_real_some.h
sim_master_ldadd = %D%/libsupport.a %D%/libsim.a $(LDADD)
%C%_test_sim_master_SOURCES = %D%/test_sim_master.c $(sim_master_one)
%C%_test_sim_master_CPPFLAGS = $(sim_rig_cppflags)
%C%_test_sim_master_LDADD = $(sim_master_ldadd)
%C%_test_sim_master_faults_SOURCES = %D%/test_sim_master_faults.c $(sim_master_one)
%C%_test_sim_master_faults_CPPFLAGS = $(sim_rig_cppflags)
%C%_test_sim_master_faults_LDADD = $(sim_master_ldadd)
%C%_test_sim_master_life_SOURCES = %D%/test_sim_master_life.c $(sim_master_one)
%C%_test_sim_master_life_CPPFLAGS = $(sim_rig_cppflags)
%C%_test_sim_master_life_LDADD = $(sim_master_ldadd)
%C%_test_sim_master_real_SOURCES = %D%/test_sim_master_real.c $(sim_master_rig) $(sim_real_pair)
%C%_test_sim_master_real_CPPFLAGS = $(sim_rig_cppflags)
%C%_test_sim_master_real_LDADD = $(sim_master_ldadd)
%C%_test_sim_master_states_SOURCES = %D%/test_sim_master_states.c $(sim_master_rig) $(sim_real_pair)
%C%_test_sim_master_states_CPPFLAGS = $(sim_rig_cppflags)
%C%_test_sim_master_states_LDADD = $(sim_master_ldadd)

# One program an event loop, so that one without its loop is seen to be skipped.
%C%_test_example_poll_SOURCES = %D%/example_loop.c
%C%_test_example_poll_CPPFLAGS = $(AM_CPPFLAGS) -DEXAMPLE='"poll"' -DFOUND='"yes"'
%C%_test_example_libuv_SOURCES = %D%/example_loop.c
%C%_test_example_libuv_CPPFLAGS = $(AM_CPPFLAGS) -DEXAMPLE='"libuv"' \
	-DFOUND='"$(have_libuv)"'
%C%_test_example_libevent_SOURCES = %D%/example_loop.c
%C%_test_example_libevent_CPPFLAGS = $(AM_CPPFLAGS) -DEXAMPLE='"libevent"' \
	-DFOUND='"$(have_libevent)"'

# ---- fuzz targets: `make check` runs their corpora -------------------------------------

check_PROGRAMS += %D%/fuzz/fuzz_config %D%/fuzz/fuzz_reply %D%/fuzz/fuzz_sub \
	%D%/fuzz/fuzz_text %D%/fuzz/fuzz_view
fuzz_shared = %D%/fuzz/fuzz.h %D%/fuzz/standalone.c
fuzz_link = %D%/fuzz/input_link.c %D%/fuzz/input_link.h
%C%_fuzz_fuzz_config_SOURCES = %D%/fuzz/fuzz_config.c $(fuzz_shared)
%C%_fuzz_fuzz_config_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"config"'
%C%_fuzz_fuzz_config_LDADD = libredlock-core.la $(DEPS_LIBS)
%C%_fuzz_fuzz_reply_SOURCES = %D%/fuzz/fuzz_reply.c $(fuzz_link) $(fuzz_shared)
%C%_fuzz_fuzz_reply_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"reply"'
%C%_fuzz_fuzz_reply_LDADD = libredlock-core.la $(DEPS_LIBS)
%C%_fuzz_fuzz_sub_SOURCES = %D%/fuzz/fuzz_sub.c $(fuzz_link) $(fuzz_shared)
%C%_fuzz_fuzz_sub_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"sub"'
%C%_fuzz_fuzz_sub_LDADD = libredlock-core.la $(DEPS_LIBS)
%C%_fuzz_fuzz_text_SOURCES = %D%/fuzz/fuzz_text.c $(fuzz_shared)
%C%_fuzz_fuzz_text_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"text"'
%C%_fuzz_fuzz_text_LDADD = libredlock-core.la $(DEPS_LIBS)
%C%_fuzz_fuzz_view_SOURCES = %D%/fuzz/fuzz_view.c $(fuzz_shared)
%C%_fuzz_fuzz_view_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"view"'
%C%_fuzz_fuzz_view_LDADD = libredlock-core.la $(DEPS_LIBS)
EXTRA_DIST += %D%/fuzz/fuzz.sh
EXTRA_DIST += %D%/fuzz/corpus

# The documents and the manual, the scenes of scripts.
dist_check_SCRIPTS += %D%/sim_check.sh %D%/sim_stories_test.sh
dist_check_SCRIPTS += %D%/docs_test.sh %D%/example_test.sh %D%/manpages.sh
EXTRA_DIST += %D%/bench_table.py %D%/example_readme.c
EXTRA_DIST += %D%/chaos_rig.sh %D%/shell_rig.sh %D%/layers.txt

# `make check` builds all tests before it runs those that TESTS names.
.PHONY: check-one
check-one:
	@test -n "$(T)" || { echo "usage: make check-one T='%D%/test_hold %D%/layers.sh'" >&2; exit 64; }
	@programs=`for t in $(T); do case $$t in *.sh) ;; *) echo $$t ;; esac; done`; \
	$(MAKE) $(AM_MAKEFLAGS) all $$programs && \
	$(MAKE) $(AM_MAKEFLAGS) check check_PROGRAMS="$$programs" TESTS="$(T)"
