# local.mk - the simulator, and what is broken to see it find that.

# The simulator: what stands below masters, worlds and oracles. bound.txt is the one list of
# what the linker binds to it; %D%/sim_real.h has the same names.
SIM_WRAPS = $(AM_LDFLAGS) -Wl,@$(srcdir)/%D%/bound.txt
SIM_LIBS = tests/libsim.a libredlock-core.la $(DEPS_LIBS)
EXTRA_DIST += %D%/bound.txt
check_LIBRARIES += tests/libsim.a
tests_libsim_a_SOURCES = %D%/sim.h %D%/sim_alloc.c %D%/sim_alloc.h %D%/sim_arrive.c \
	%D%/sim_blocks.c %D%/sim_blocks.h %D%/sim_choice.c %D%/sim_clock.c %D%/sim_commands.c \
	%D%/sim_commands_keys.c %D%/sim_commands_talk.c %D%/sim_cond.c %D%/sim_conn.c \
	%D%/sim_context.c %D%/sim_context.h %D%/sim_data.c %D%/sim_epoll.c %D%/sim_fair.h \
	%D%/sim_fair_queue.c %D%/sim_fd.c %D%/sim_fiber.c %D%/sim_fiber.h %D%/sim_fortified.c \
	%D%/sim_futex.c \
	%D%/sim_leaf.c %D%/sim_lie.c %D%/sim_lists.c %D%/sim_lookup.c %D%/sim_master.c %D%/sim_master.h \
	%D%/sim_master_parts.h %D%/sim_mutex.c %D%/sim_mutex.h %D%/sim_net.h \
	%D%/sim_net_parts.h %D%/sim_parts.h %D%/sim_path.c %D%/sim_pipe.c %D%/sim_proc.c \
	%D%/sim_proc.h %D%/sim_real.h %D%/sim_replica.c %D%/sim_reply.c %D%/sim_request.c %D%/sim_restart.c \
	%D%/sim_script_calls.c %D%/sim_script_parts.h %D%/sim_scripts.c \
	%D%/sim_operator.c %D%/sim_certify.h %D%/sim_scripts_certify.c %D%/sim_scripts_lists.c %D%/sim_scripts_marker.c %D%/sim_scripts_plain.c %D%/sim_scripts_qrw.c %D%/sim_plain.c %D%/sim_plain.h \
	%D%/sim_qrw.h %D%/sim_qrw_set.c %D%/sim_reentrant.h %D%/sim_scripts_fair.c \
	%D%/sim_scripts_fence.c %D%/sim_scripts_reentrant.c %D%/sim_rw.h %D%/sim_rw_holds.c %D%/sim_rw_release.c \
	%D%/sim_scripts_rw.c %D%/sim_scripts_several.c %D%/sim_several.h \
	%D%/sim_several_wait.c %D%/sim_sentinel.c %D%/sim_sentinel.h \
	%D%/sim_sentinel_parts.h %D%/sim_sentinel_talk.c %D%/sim_sentinel_tick.c %D%/sim_session.c %D%/sim_socket.c %D%/sim_story.c \
	%D%/sim_thread.c %D%/sim_time.c %D%/sim_timerfd.c %D%/sim_trouble.c %D%/sim_undo.c %D%/sim_wall.c \
	%D%/sim_zset.c
# Above them: what programs do with a client, and what the oracles make of it.
tests_libsim_a_SOURCES += %D%/sim_client.c %D%/sim_client.h %D%/sim_backing.c %D%/sim_blame.c %D%/sim_fences.c %D%/sim_held.h \
	%D%/sim_holds.c %D%/sim_judge.h %D%/sim_kept.c %D%/sim_keys.c %D%/sim_names.c %D%/sim_names.h \
	%D%/sim_oracle.c %D%/sim_oracle.h %D%/sim_order.c %D%/sim_reported.c \
	%D%/sim_witnessed.c
# A rule of the world's own, here so that a mutant is linked in front of it.
tests_libsim_a_SOURCES += %D%/sim_members.c
# The fakes need it, too.
tests_libsim_a_SOURCES += tests/support/script_text.c tests/support/script_text.h

# Tests of what the linker binds. Check's own calls are bound as well, hence the libraries once
# more behind it.
sim_ldadd = tests/libsupport.a $(SIM_LIBS) $(CHECK_LIBS) $(SIM_LIBS)
%C%_test_sim_base_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_base_LDADD = $(sim_ldadd)
%C%_test_sim_leaf_SOURCES = %D%/test_sim_leaf.c %D%/sim_scene.c %D%/sim_scene.h
%C%_test_sim_leaf_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_leaf_LDADD = $(sim_ldadd)
%C%_test_sim_proc_SOURCES = %D%/test_sim_proc.c %D%/sim_scene.c %D%/sim_scene.h
%C%_test_sim_proc_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_proc_LDADD = $(sim_ldadd)
%C%_test_sim_threads_SOURCES = %D%/test_sim_threads.c %D%/sim_scene.c %D%/sim_scene.h
%C%_test_sim_threads_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_threads_LDADD = $(sim_ldadd)
# The simulated network, with masters that echo.
%C%_test_sim_ends_SOURCES = %D%/test_sim_ends.c %D%/sim_net_rig.c %D%/sim_net_rig.h
%C%_test_sim_ends_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_ends_LDADD = $(sim_ldadd)
%C%_test_sim_fds_SOURCES = %D%/test_sim_fds.c %D%/sim_net_rig.c %D%/sim_net_rig.h
%C%_test_sim_fds_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_fds_LDADD = $(sim_ldadd)
%C%_test_sim_hole_SOURCES = %D%/test_sim_hole.c %D%/sim_net_rig.c %D%/sim_net_rig.h
%C%_test_sim_hole_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_hole_LDADD = $(sim_ldadd)
%C%_test_sim_net_SOURCES = %D%/test_sim_net.c %D%/sim_net_rig.c %D%/sim_net_rig.h
%C%_test_sim_net_LDFLAGS = $(SIM_WRAPS)
%C%_test_sim_net_LDADD = $(sim_ldadd)
# Model masters without a network, and next to a real one. Nothing is bound.
sim_master_rig = %D%/sim_master_rig.c %D%/sim_master_rig.h
sim_master_one = $(sim_master_rig) %D%/sim_master_one.c %D%/sim_master_one.h
sim_real_pair = $(sim_master_rig) %D%/sim_real_pair.c %D%/sim_real_pair.h %D%/sim_real_words.c \
	%D%/sim_real_words.h %D%/sim_real_lines.c %D%/sim_real_some.c %D%/sim_real_some.h
%C%_test_sim_master_SOURCES = %D%/test_sim_master.c $(sim_master_one)
%C%_test_sim_master_faults_SOURCES = %D%/test_sim_master_faults.c $(sim_master_one)
%C%_test_sim_master_life_SOURCES = %D%/test_sim_master_life.c $(sim_master_one)
%C%_test_sim_master_queue_SOURCES = %D%/test_sim_master_queue.c $(sim_real_pair)
%C%_test_sim_master_real_SOURCES = %D%/test_sim_master_real.c $(sim_real_pair)
%C%_test_sim_sentinel_SOURCES = %D%/test_sim_sentinel.c $(sim_master_rig)
%C%_test_sim_master_states_SOURCES = %D%/test_sim_master_states.c $(sim_real_pair)

# The simulator itself. It is no test: tests/sim/sim_check.sh runs it for a moment, `make sim` and
# `make soak` for longer.
EXTRA_PROGRAMS += %D%/sim
%C%_sim_SOURCES = %D%/sim.c %D%/sim_count.c %D%/sim_count.h \
	%D%/sim_effect.h %D%/sim_end.c %D%/sim_failover.c %D%/sim_idle.c %D%/sim_fault.h \
	%D%/sim_fault_aim.c %D%/sim_fault_do.c %D%/sim_fault_felt.c \
	%D%/sim_fault_master.c %D%/sim_numbers.c %D%/sim_fault_path.c %D%/sim_fault_proc.c \
	%D%/sim_faults.c %D%/sim_jobs.c %D%/sim_kinds.c %D%/sim_limits.c %D%/sim_jobs.h \
	%D%/sim_loop.c %D%/sim_modes.c %D%/sim_modes.h %D%/sim_named.c \
	%D%/sim_named.h %D%/sim_named_parts.h %D%/sim_named_cast.c \
	%D%/sim_named_clock.c %D%/sim_named_detach.c %D%/sim_named_fair.c \
	%D%/sim_named_fault.c %D%/sim_named_fit.c %D%/sim_named_keep.c %D%/sim_named_kept.c \
	%D%/sim_named_absent.c %D%/sim_named_failover.c %D%/sim_named_fence.c %D%/sim_named_follow.c %D%/sim_named_marker.c %D%/sim_named_lazy.c %D%/sim_named_links.c %D%/sim_named_loss.c %D%/sim_named_native.c \
	%D%/sim_named_nested.c %D%/sim_named_rw.c %D%/sim_named_several.c \
	%D%/sim_named_shared.c %D%/sim_named_take.c %D%/sim_named_undo.c \
	%D%/sim_named_wait.c %D%/sim_named_watch.c %D%/sim_named_members.c %D%/sim_named_back.c %D%/sim_named_line.c %D%/sim_named_two.c %D%/sim_small.c %D%/sim_small.h \
	%D%/sim_small_parts.h %D%/sim_small_replies.c %D%/sim_small_stops.c %D%/sim_supervise.c \
	%D%/sim_work.c %D%/sim_world.c %D%/sim_world.h
%C%_sim_LDFLAGS = $(SIM_WRAPS)
%C%_sim_LDADD = $(SIM_LIBS) $(SIM_LIBS)
CLEANFILES += $(EXTRA_PROGRAMS)
SEEDS = 1000000
SIM_JOBS = $$(nproc)
sim: %D%/sim
	%D%/sim --seeds $(SEEDS) --jobs $(SIM_JOBS)
# Other seeds each time, for as long as is wanted; real masters under all faults before it.
SOAK_SECONDS = 28800
soak: %D%/sim bin/redlock-chaos bin/server_clock.so
	$(AM_TESTS_ENVIRONMENT) CHAOS_LONG=1 CHAOS_SEED=$$(date +%s) \
	  sh $(srcdir)/tests/programs/chaos_test.sh || test $$? -eq 77
	$(AM_TESTS_ENVIRONMENT) CHAOS_LONG=1 CHAOS_SEED=$$(date +%s) \
	  sh $(srcdir)/tests/programs/chaos_kinds_test.sh || test $$? -eq 77
	$(AM_TESTS_ENVIRONMENT) CHAOS_LONG=1 CHAOS_SEED=$$(date +%s) \
	  sh $(srcdir)/tests/programs/chaos_markers_test.sh || test $$? -eq 77
	%D%/sim --first $$(date +%s)000000 --seeds 1000000000 --jobs $(SIM_JOBS) \
	  --time-limit $(SOAK_SECONDS)
.PHONY: sim soak
check_DATA = %D%/sim

# One rule broken at a time: is it found? MUTANTS='NAME...': these; BUDGET=60s: for so long.
# A changed object stands before the library, which then has no need to bring its own.
sim-mutants: %D%/sim
	MUTANTS='$(MUTANTS)' BUDGET='$(BUDGET)' srcdir='$(srcdir)' \
	MUTANTS_COMPILE='$(CC) $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS)' \
	MUTANTS_LINK='$(LIBTOOL) --silent --tag=CC --mode=link $(CCLD) $(AM_CFLAGS) $(CFLAGS) $(%C%_sim_LDFLAGS) $(LDFLAGS)' \
	MUTANTS_OBJECTS='$(%C%_sim_OBJECTS)' MUTANTS_LIBS='$(%C%_sim_LDADD) $(LIBS)' \
	  sh $(srcdir)/%D%/mutants.sh
# The same of what it does not reach, found by tests.
code-mutants: lib/kinds/scripts.h
	MUTANTS='$(MUTANTS)' BUDGET='$(BUDGET)' srcdir='$(srcdir)' builddir='$(abs_builddir)' \
	CC='$(CC)' AR='$(AR)' MUTANTS_TABLES='$(srcdir)/tests/mutants' \
	MUTANTS_MAKE='$(MAKE) $(AM_MAKEFLAGS)' \
	MUTANTS_PROGRAMS='bin/redlock bin/redlock-chaos tests/support/boot_clock.so' \
	MUTANTS_COMPILE='$(CC) $(DEFS) $(DEFAULT_INCLUDES) $(tools_libchaos_a_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS)' \
	MUTANTS_LINK='$(LIBTOOL) --silent --tag=CC --mode=link $(CCLD) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS)' \
	MUTANTS_REDLOCK='$(bin_redlock_OBJECTS)' \
	MUTANTS_LIBS='$(LDADD) $(LIBS)' \
	  sh $(srcdir)/%D%/mutants.sh
.PHONY: sim-mutants code-mutants
EXTRA_DIST += %D%/golden %D%/mutants %D%/mutants.sh tests/mutants
