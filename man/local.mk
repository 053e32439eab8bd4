# local.mk - the manual.

dist_man_MANS = %D%/redlock-bench.1 %D%/redlock-chaos.1 %D%/redlock-cluster.1 %D%/redlock.1 \
	%D%/redlock.3 %D%/redlock.hpp.3 %D%/redlock_detach.3 %D%/redlock_extend.3 %D%/redlock_fd.3 %D%/redlock_get_hold.3 \
	%D%/redlock_inspect.3 %D%/redlock_open.3 %D%/redlock_release.3 %D%/redlock_try.3 \
	%D%/redlock_try_names.3 %D%/redlock_try_multi.3 %D%/redlock_try_async.3 \
	%D%/redlock_validity_ms.3 %D%/redlock.conf.5 %D%/redlock.7 %D%/redlock-scripts.7

# Every exported name is a page's; those that share one, NAME:PAGE, are links to it.
man_aliases = \
	redlock_attach:redlock_detach \
	redlock_cancel:redlock_try_async \
	redlock_close:redlock_open \
	redlock_err_name:redlock \
	redlock_extend_async:redlock_try_async \
	redlock_force_release:redlock_inspect redlock_force_release_n:redlock_inspect \
	redlock_get_stats:redlock_inspect \
	redlock_get_status:redlock_inspect \
	redlock_handle:redlock_detach \
	redlock_inspect_n:redlock_inspect \
	redlock_last_error:redlock_open \
	redlock_name_at:redlock_try_names \
	redlock_name_count:redlock_try_names \
	redlock_open_config:redlock_open \
	redlock_probe:redlock_inspect \
	redlock_process:redlock_fd \
	redlock_release_async:redlock_try_async \
	redlock_release_multi:redlock_try_multi \
	redlock_shutdown:redlock_open \
	redlock_strerror:redlock \
	redlock_timeout_ms:redlock_fd \
	redlock_token:redlock_validity_ms redlock_fencing_token:redlock_validity_ms \
	redlock_try_async_n:redlock_try_async \
	redlock_try_n:redlock_try \
	redlock_try_names_async:redlock_try_names redlock_try_names_async_n:redlock_try_names \
	redlock_try_names_n:redlock_try_names \
	redlock_validity_multi:redlock_try_multi \
	redlock_version:redlock

# So have the structs that callers fill in or read.
man_structs = redlock_config:redlock_open redlock_item:redlock_try_multi redlock_lock_info:redlock_inspect \
	redlock_options:redlock_try redlock_report:redlock_try redlock_stats:redlock_inspect \
	redlock_status_report:redlock_inspect

install-data-hook:
	@for alias in $(man_aliases) $(man_structs); do \
	  echo ".so man3/$${alias#*:}.3" > "$(DESTDIR)$(man3dir)/$${alias%:*}.3" || exit 1; \
	done
uninstall-hook:
	@for alias in $(man_aliases) $(man_structs); do \
	  rm -f "$(DESTDIR)$(man3dir)/$${alias%:*}.3"; \
	done
