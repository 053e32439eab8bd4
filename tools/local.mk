# local.mk - the programs. They are built into bin/.

bin_PROGRAMS = bin/redlock bin/redlock-bench bin/redlock-chaos
bin_SCRIPTS = bin/redlock-cluster

# The programs link the convenience library: they share the library's own parsers.
TOOL_LIBS = libredlock-core.la $(DEPS_LIBS)
bin_redlock_SOURCES = %D%/redlock/cli.h %D%/redlock/cli_check.c %D%/redlock/cli_client.c \
	%D%/redlock/cli_nodes.c %D%/redlock/cli_help.c %D%/redlock/cli_nested.c \
	%D%/redlock/cli_options.c %D%/redlock/cli_options.h %D%/redlock/cli_out.c \
	%D%/redlock/cli_outcome.c %D%/redlock/cli_patience.c %D%/redlock/cli_patience.h \
	%D%/redlock/cli_explain.c %D%/redlock/cli_signal.c %D%/redlock/cli_acquire.c \
	%D%/redlock/cli_values.c %D%/redlock/cli_format_view.c %D%/redlock/holder_ask.c %D%/redlock/holder_ask.h \
	%D%/redlock/holder_clients.c %D%/redlock/holder_clients.h \
	%D%/redlock/client_list.c %D%/redlock/client_list.h %D%/redlock/cmd_inspect.c %D%/redlock/cmd_lock.c \
	%D%/redlock/cmd_run.c %D%/redlock/cmd_break.c %D%/redlock/cmd_init.c %D%/redlock/init.h %D%/redlock/init_check.c %D%/redlock/init_text.c %D%/redlock/init_text.h %D%/redlock/cmd_status.c \
	%D%/redlock/node_ask.c %D%/redlock/node_ask.h %D%/redlock/node_ask_link.c \
	%D%/redlock/node_ask_named.c %D%/redlock/node_ask_parts.h %D%/redlock/sentinel_ask.c \
	%D%/redlock/sentinel_ask.h %D%/redlock/status_ask.c \
	%D%/redlock/status_sentinels.c %D%/redlock/status_sentinels.h \
	%D%/redlock/status_setup.c \
	%D%/redlock/fence_look.c %D%/redlock/fence_look.h \
	%D%/redlock/status_acl.c %D%/redlock/status_ask.h %D%/redlock/status_assume.c %D%/redlock/status_checks.c \
	%D%/redlock/status_checks.h %D%/redlock/status_facts.c %D%/redlock/status_facts.h \
	%D%/redlock/status_replay.c %D%/redlock/status_replay.h \
	%D%/redlock/status_metrics.c %D%/redlock/status_peers.c %D%/redlock/status_peers.h %D%/redlock/status_print.c %D%/redlock/status_print.h \
	%D%/redlock/rights.c %D%/redlock/rights.h %D%/redlock/status_rights.c %D%/redlock/status_rights.h \
	%D%/redlock/proc_tree.c %D%/redlock/proc_tree.h \
	%D%/redlock/main.c %D%/redlock/run.h %D%/redlock/run_child.c %D%/redlock/run_terminate.c \
	%D%/redlock/run_terminate.h %D%/redlock/run_guard.c %D%/redlock/run_guard.h \
	%D%/redlock/run_account.c %D%/redlock/run_lists.c %D%/redlock/run_lists.h %D%/redlock/run_left.c %D%/redlock/run_notify.c %D%/redlock/run_reap.c %D%/redlock/run_spawn.c %D%/redlock/run_stay.c %D%/redlock/run_terminal.c \
	%D%/redlock/run_supervise.c
bin_redlock_CPPFLAGS = $(LIB_CPPFLAGS) -iquote $(top_srcdir)/tools
if LATE_OPENSSL
bin_redlock_SOURCES += %D%/redlock/openssl_late.c
bin_redlock_LDADD = libredlock-core.la $(PLAIN_LIBS) $(LATE_LIBS)
else
bin_redlock_LDADD = $(TOOL_LIBS)
endif

# The command line, private masters, and talking to them: of two programs.
option_sources = %D%/options/table.c %D%/options/table.h
server_sources = %D%/cluster/server_talk.c %D%/cluster/server_talk.h %D%/cluster/server.c \
	%D%/cluster/servers.c %D%/cluster/servers.h %D%/cluster/servers_parts.h

bin_redlock_bench_SOURCES = %D%/bench/main.c %D%/bench/bench.h %D%/bench/alloc.c \
	%D%/bench/alloc.h %D%/bench/driver.c %D%/bench/options.c %D%/bench/slice.c \
	%D%/bench/contenders/group.c %D%/bench/contenders/group.h \
	%D%/bench/contenders/shared.h %D%/bench/contenders/worker.c %D%/bench/floor/floor.c \
	%D%/bench/floor/floor.h %D%/bench/floor/floor_fair.c %D%/bench/floor/floor_fair.h \
	%D%/bench/floor/floor_pipeline.c %D%/bench/floor/floor_pipeline.h \
	%D%/bench/floor/floor_wakeup.c %D%/bench/floor/floor_wakeup.h \
	%D%/bench/floor/requests.c %D%/bench/floor/requests.h %D%/bench/place/delay.c \
	%D%/bench/place/delay.h %D%/bench/place/masters_cpu.c %D%/bench/place/masters_cpu.h \
	%D%/bench/place/nodes.c %D%/bench/place/nodes.h %D%/bench/report/compare.c \
	%D%/bench/report/compare.h %D%/bench/report/draw.c %D%/bench/report/draw.h \
	%D%/bench/report/draw_svg.c %D%/bench/report/machine.c %D%/bench/report/machine.h \
	%D%/bench/report/report.c %D%/bench/report/report.h %D%/bench/report/stats.c \
	%D%/bench/report/stats.h %D%/bench/scenarios/async_release.c \
	%D%/bench/scenarios/contention.c %D%/bench/scenarios/down.c %D%/bench/scenarios/fair.c \
	%D%/bench/scenarios/fanout.c %D%/bench/scenarios/handoff.c \
	%D%/bench/scenarios/inflight.c %D%/bench/scenarios/kinds.c %D%/bench/scenarios/pair.c \
	%D%/bench/scenarios/renew.c %D%/bench/scenarios/rollback.c %D%/bench/scenarios/rw.c \
	%D%/bench/scenarios/stall.c %D%/bench/scenarios/start.c \
	%D%/bench/scenarios/threads.c $(option_sources) $(server_sources)
bin_redlock_bench_CPPFLAGS = $(LIB_CPPFLAGS) -iquote $(top_srcdir)/tools -iquote $(top_builddir)/tools
bin_redlock_bench_LDADD = $(TOOL_LIBS)

# Of what source the bench is. Each make looks again, and rebuilds only where that has changed.
BUILT_SOURCES += %D%/bench/source.h
EXTRA_DIST += %D%/bench/source.sh
.PHONY: look-at-source
%D%/bench/report/bin_redlock_bench-machine.$(OBJEXT): %D%/bench/source.h
%D%/bench/source.h: look-at-source
	@$(MKDIR_P) %D%/bench && source=`sh $(srcdir)/%D%/bench/source.sh $(srcdir) $(VERSION)` && \
	  echo "#define BENCH_SOURCE \"$$source\"" >$@.tmp && \
	  if cmp -s $@.tmp $@; then rm -f $@.tmp; else mv $@.tmp $@; fi

# All of it but main(): its tests link it too.
noinst_LIBRARIES = %D%/libchaos.a
%C%_libchaos_a_SOURCES = %D%/chaos/chaos.h %D%/chaos/check/quorum_times.c \
	%D%/chaos/faults/confirm.c %D%/chaos/faults/confirm.h %D%/chaos/workload/broken.c \
	%D%/chaos/report/chart.c %D%/chaos/report/chart.h %D%/chaos/check/check.c \
	%D%/chaos/check/check.h %D%/chaos/check/check_keys.c %D%/chaos/check/check_record.c \
	%D%/chaos/workload/client.c %D%/chaos/faults/command.c %D%/chaos/faults/command.h \
	%D%/chaos/place/compose.c %D%/chaos/place/compose.h \
	%D%/chaos/place/compose_faults.c %D%/chaos/workload/workers.c \
	%D%/chaos/workload/workers.h %D%/chaos/place/dir.c %D%/chaos/place/dir.h \
	%D%/chaos/place/docker.c %D%/chaos/faults/assumptions.c %D%/chaos/faults/fault.c \
	%D%/chaos/faults/fault.h %D%/chaos/faults/fault_command.c \
	%D%/chaos/faults/fault_holder.c %D%/chaos/faults/fault_path.c %D%/chaos/place/file.c \
	%D%/chaos/faults/fault_members.c %D%/chaos/faults/fault_warm.c %D%/chaos/faults/lose.c %D%/chaos/place/mark.c \
	%D%/chaos/place/mark.h \
	%D%/chaos/check/heart.c %D%/chaos/report/html.c %D%/chaos/report/html_figures.c \
	%D%/chaos/report/html_style.c %D%/chaos/report/html_tables.c %D%/chaos/report/json.c \
	%D%/chaos/check/keys.c %D%/chaos/check/keys.h %D%/chaos/faults/kinds.c \
	%D%/chaos/faults/kinds.h %D%/chaos/workload/line_process.c %D%/chaos/workload/line_process.h \
	%D%/chaos/report/progress.c %D%/chaos/report/progress.h %D%/chaos/place/local.c \
	%D%/chaos/place/nodes.c %D%/chaos/place/nodes.h %D%/chaos/options.c %D%/chaos/options.h %D%/chaos/report/format.c %D%/chaos/report/format.h \
	%D%/chaos/report/page.h %D%/chaos/place/proxy_conn.c %D%/chaos/place/proxy_conn.h \
	%D%/chaos/place/place.h %D%/chaos/faults/run_schedule.c %D%/chaos/faults/run_schedule.h \
	%D%/chaos/place/prepare.c %D%/chaos/place/prepare.h %D%/chaos/faults/probe.c \
	%D%/chaos/place/proxy.c %D%/chaos/place/proxy.h %D%/chaos/place/proxy_loop.c \
	%D%/chaos/place/proxy_parts.h %D%/chaos/faults/random.c \
	%D%/chaos/faults/random.h %D%/chaos/faults/reachability.c %D%/chaos/check/record.c %D%/chaos/check/store.c %D%/chaos/check/store.h \
	%D%/chaos/check/record.h %D%/chaos/report/report.c %D%/chaos/report/report.h \
	%D%/chaos/run.c %D%/chaos/run.h %D%/chaos/faults/schedule.c \
	%D%/chaos/faults/schedule.h %D%/chaos/report/series.c %D%/chaos/check/stall.c \
	%D%/chaos/check/stall.h %D%/chaos/report/stats.c %D%/chaos/report/stats.h \
	%D%/chaos/report/stats_gaps.c %D%/chaos/check/hold_history.c %D%/chaos/check/hold_history.h \
	%D%/chaos/report/svg.c %D%/chaos/report/svg_charts.c %D%/chaos/report/svg_close.c \
	%D%/chaos/report/svg_histogram.c %D%/chaos/report/svg_holds.c \
	%D%/chaos/report/svg_timeline.c %D%/chaos/workload/client_protocol.c %D%/chaos/workload/client_protocol.h \
	%D%/chaos/check/verdict.c %D%/chaos/workload/worker.c %D%/chaos/workload/worker.h \
	$(option_sources) $(server_sources)
%C%_libchaos_a_CPPFLAGS = $(LIB_CPPFLAGS) -iquote $(top_srcdir)/tools \
	-DCHAOS_LIB_DIR='"$(pkglibdir)"'
bin_redlock_chaos_SOURCES = %D%/chaos/main.c
bin_redlock_chaos_CPPFLAGS = $(LIB_CPPFLAGS) -iquote $(top_srcdir)/tools
bin_redlock_chaos_LDADD = %D%/libchaos.a $(TOOL_LIBS) -lm

# Loaded into redis-server by who steps its clock, whatever the rest is built like.
clocklibdir = $(pkglibdir)
clocklib_DATA = bin/server_clock.so
CLEANFILES += bin/server_clock.so
EXTRA_DIST += %D%/cluster/server_clock.c
bin/server_clock.so: %D%/cluster/server_clock.c config_auto.h
	$(AM_V_CCLD)$(MKDIR_P) bin && $(CC) $(DEFS) -I. $(WARN_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -fPIC -shared \
	  -o $@ $(srcdir)/%D%/cluster/server_clock.c
