# Builds libcurl's cookie engine and HTTP code into the driver, without TLS. Arguments: curl's folder, the program, the driver.
set -e
cd "$1"
sizes="-DSIZEOF_CURL_OFF_T=8 -DCURL_SIZEOF_LONG=8"
if [ -e include/curl/curlbuild.h.dist ]; then
    # Until 7.54 a header of the build says these sizes.
    cp include/curl/curlbuild.h.dist include/curl/curlbuild.h
    sizes=""
fi
off=""
for protocol in CRYPTO_AUTH DICT FTP GOPHER IMAP LDAP LDAPS NTLM POP3 RTSP SMB SMTP TELNET TFTP; do off="$off -DCURL_DISABLE_$protocol"; done
have=""
for name in ASSERT_H PTHREAD_H ARPA_INET_H ERRNO_H FCNTL_H NETDB_H NETINET_IN_H POLL_FINE POLL_H FCNTL_O_NONBLOCK SYS_SELECT_H \
    SYS_SOCKET_H SYS_STAT_H SYS_TIME_H SYS_TYPES_H UNISTD_H STRING_H STDLIB_H RECV SELECT SEND SOCKET STRUCT_TIMEVAL GETTIMEOFDAY LONGLONG; do
    have="$have -DHAVE_$name"
done
types="-DRECV_TYPE_ARG1=int -DRECV_TYPE_ARG2=void* -DRECV_TYPE_ARG3=size_t -DRECV_TYPE_ARG4=int -DRECV_TYPE_RETV=ssize_t
    -DSEND_QUAL_ARG2=const -DSEND_TYPE_ARG1=int -DSEND_TYPE_ARG2=void* -DSEND_TYPE_ARG3=size_t -DSEND_TYPE_ARG4=int -DSEND_TYPE_RETV=ssize_t
    -DSIZEOF_INT=4 -DSIZEOF_SHORT=2 -DSIZEOF_SSIZE_T=8 -DSIZEOF_SIZE_T=8 -DSIZEOF_LONG=8 $sizes"
cc -O2 -g -w -D_GNU_SOURCE -DBUILDING_LIBCURL -DCURL_STATICLIB -DTIME_WITH_SYS_TIME -DOS='"unknown"' $off $have $types \
    -Iinclude -Ilib "$3" lib/*.c lib/vauth/*.c lib/vtls/vtls.c -o "$2/program"
