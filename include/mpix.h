/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extensions of Patchbay MPI. Every function is also available as PMPIX_. A function that this build does not implement
 * reports MPI_ERR_UNSUPPORTED_OPERATION (patchbay-info --unimplemented lists them). See README.md in this folder.
 */
#ifndef PATCHBAY_MPIX_H_INCLUDED
#define PATCHBAY_MPIX_H_INCLUDED

#include "mpi.h"

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/* The process set that holds the processes of this node */
#define MPIX_PSET_SHARED "mpix://SHARED"

/* Kinds of resource change */
enum { MPIX_RC_NONE = 0, MPIX_RC_ADD = 1, MPIX_RC_SUB = 2, MPIX_RC_REPLACE = 3 };

/* Operations on process sets */
enum {
    MPIX_PSETOP_UNION = 1,
    MPIX_PSETOP_DIFF = 2,
    MPIX_PSETOP_INTERSECT = 3,
    MPIX_PSETOP_SPLIT = 4,
    MPIX_PSETOP_JOIN = 5
};

typedef int(MPIX_Session_delete_attr_function)(MPI_Session session, int keyval, void *attribute_val,
                                               void *extra_state);

/* ---- Sessions: attributes ---- */

int MPIX_Session_create_keyval(MPIX_Session_delete_attr_function *delete_fn, int *keyval, void *extra_state);
int MPIX_Session_free_keyval(int *keyval);
int MPIX_Session_set_attr(MPI_Session session, int keyval, void *attribute_val);
int MPIX_Session_get_attr(MPI_Session session, int keyval, void *attribute_val, int *flag);
int MPIX_Session_delete_attr(MPI_Session session, int keyval);

/* ---- Persistent channels ---- */

int MPIX_Bind_channel(MPI_Request request_in, MPI_Request *request_out, MPI_Info info);
int MPIX_Ibind_channel(MPI_Request request_in, MPI_Request *request_out, MPI_Info info);
int MPIX_Bind_channels(MPI_Request requests_in[], MPI_Request requests_out[], int nrequests, MPI_Info infos[]);
int MPIX_Ibind_channels(MPI_Request requests_in[], MPI_Request requests_out[], int nrequests, MPI_Info infos[]);
int MPIX_Bind_slack_channel(MPI_Request request_in, MPI_Request *request_out, int slackness, MPI_Info info);
int MPIX_Ibind_slack_channel(MPI_Request request_in, MPI_Request *request_out, int slackness, MPI_Info info);
int MPIX_Bind_slack_channels(MPI_Request requests_in[], MPI_Request requests_out[], int nrequests, int slackness[],
                             MPI_Info infos[]);
int MPIX_Ibind_slack_channels(MPI_Request requests_in[], MPI_Request requests_out[], int nrequests, int slackness[],
                              MPI_Info infos[]);
int MPIX_Unbind_channel(MPI_Request *request);
int MPIX_Unbind_channels(MPI_Request requests[], int nrequests);
int MPIX_Iunbind_channel(MPI_Request request, MPI_Info info);
int MPIX_Iunbind_channels(MPI_Request requests[], int nrequests, MPI_Info infos[]);
int MPIX_Rebind_channel(MPI_Request request, void *buf, MPI_Count count);
int MPIX_Bundle_init(int count, MPI_Request requests[], MPI_Info info, MPI_Request *bundle);

/* ---- Persistent one-sided communication ---- */

int MPIX_Put_init(const void *origin, int origin_count, MPI_Datatype origin_type, int target_rank,
                  MPI_Aint target_disp, int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Info info,
                  MPI_Request *request);
int MPIX_Get_init(void *origin, int origin_count, MPI_Datatype origin_type, int target_rank, MPI_Aint target_disp,
                  int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Info info, MPI_Request *request);
int MPIX_Accumulate_init(const void *origin, int origin_count, MPI_Datatype origin_type, int target_rank,
                         MPI_Aint target_disp, int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                         MPI_Info info, MPI_Request *request);

/* ---- Thread communicators ---- */

int MPIX_Threadcomm_init(MPI_Comm parent_comm, int num_threads, MPI_Comm *threadcomm);
int MPIX_Threadcomm_start(MPI_Comm threadcomm);
int MPIX_Threadcomm_finish(MPI_Comm threadcomm);
int MPIX_Threadcomm_free(MPI_Comm *threadcomm);

/* ---- Dynamic resources ---- */

int MPIX_Session_dyn_recv_res_change(MPI_Session session, const char *assoc_pset, int *rc_type, char *delta_pset,
                                     int *incl);
int MPIX_Session_pset_create_op(MPI_Session session, int op, const char *pset1, const char *pset2, char *pset_result);
int MPIX_Session_dyn_integrate_res_change(MPI_Session session, MPI_Info info, const char *delta_pset, char *pset_name,
                                          int provider, int *terminate);
int MPIX_Session_request_res_change(MPI_Session session, MPI_Info info, const char *assoc_pset, int rc_type,
                                    int nprocs);
int MPIX_Session_dyn_recv_res_change_nb(MPI_Session session, const char *assoc_pset, int *rc_type, char *delta_pset,
                                        int *incl, MPI_Request *request);
int MPIX_Session_pset_create_op_nb(MPI_Session session, int op, const char *pset1, const char *pset2,
                                   char *pset_result, MPI_Request *request);
int MPIX_Session_dyn_integrate_res_change_nb(MPI_Session session, MPI_Info info, const char *delta_pset,
                                             char *pset_name, int provider, int *terminate, MPI_Request *request);
int MPIX_Session_request_res_change_nb(MPI_Session session, MPI_Info info, const char *assoc_pset, int rc_type,
                                       int nprocs, MPI_Request *request);

/* The profiling interface */

/* ---- Sessions: attributes ---- */

int PMPIX_Session_create_keyval(MPIX_Session_delete_attr_function *delete_fn, int *keyval, void *extra_state);
int PMPIX_Session_free_keyval(int *keyval);
int PMPIX_Session_set_attr(MPI_Session session, int keyval, void *attribute_val);
int PMPIX_Session_get_attr(MPI_Session session, int keyval, void *attribute_val, int *flag);
int PMPIX_Session_delete_attr(MPI_Session session, int keyval);

/* ---- Persistent channels ---- */

int PMPIX_Bind_channel(MPI_Request request_in, MPI_Request *request_out, MPI_Info info);
int PMPIX_Ibind_channel(MPI_Request request_in, MPI_Request *request_out, MPI_Info info);
int PMPIX_Bind_channels(MPI_Request requests_in[], MPI_Request requests_out[], int nrequests, MPI_Info infos[]);
int PMPIX_Ibind_channels(MPI_Request requests_in[], MPI_Request requests_out[], int nrequests, MPI_Info infos[]);
int PMPIX_Bind_slack_channel(MPI_Request request_in, MPI_Request *request_out, int slackness, MPI_Info info);
int PMPIX_Ibind_slack_channel(MPI_Request request_in, MPI_Request *request_out, int slackness, MPI_Info info);
int PMPIX_Bind_slack_channels(MPI_Request requests_in[], MPI_Request requests_out[], int nrequests, int slackness[],
                              MPI_Info infos[]);
int PMPIX_Ibind_slack_channels(MPI_Request requests_in[], MPI_Request requests_out[], int nrequests, int slackness[],
                               MPI_Info infos[]);
int PMPIX_Unbind_channel(MPI_Request *request);
int PMPIX_Unbind_channels(MPI_Request requests[], int nrequests);
int PMPIX_Iunbind_channel(MPI_Request request, MPI_Info info);
int PMPIX_Iunbind_channels(MPI_Request requests[], int nrequests, MPI_Info infos[]);
int PMPIX_Rebind_channel(MPI_Request request, void *buf, MPI_Count count);
int PMPIX_Bundle_init(int count, MPI_Request requests[], MPI_Info info, MPI_Request *bundle);

/* ---- Persistent one-sided communication ---- */

int PMPIX_Put_init(const void *origin, int origin_count, MPI_Datatype origin_type, int target_rank,
                   MPI_Aint target_disp, int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Info info,
                   MPI_Request *request);
int PMPIX_Get_init(void *origin, int origin_count, MPI_Datatype origin_type, int target_rank, MPI_Aint target_disp,
                   int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Info info, MPI_Request *request);
int PMPIX_Accumulate_init(const void *origin, int origin_count, MPI_Datatype origin_type, int target_rank,
                          MPI_Aint target_disp, int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                          MPI_Info info, MPI_Request *request);

/* ---- Thread communicators ---- */

int PMPIX_Threadcomm_init(MPI_Comm parent_comm, int num_threads, MPI_Comm *threadcomm);
int PMPIX_Threadcomm_start(MPI_Comm threadcomm);
int PMPIX_Threadcomm_finish(MPI_Comm threadcomm);
int PMPIX_Threadcomm_free(MPI_Comm *threadcomm);

/* ---- Dynamic resources ---- */

int PMPIX_Session_dyn_recv_res_change(MPI_Session session, const char *assoc_pset, int *rc_type, char *delta_pset,
                                      int *incl);
int PMPIX_Session_pset_create_op(MPI_Session session, int op, const char *pset1, const char *pset2,
                                 char *pset_result);
int PMPIX_Session_dyn_integrate_res_change(MPI_Session session, MPI_Info info, const char *delta_pset,
                                           char *pset_name, int provider, int *terminate);
int PMPIX_Session_request_res_change(MPI_Session session, MPI_Info info, const char *assoc_pset, int rc_type,
                                     int nprocs);
int PMPIX_Session_dyn_recv_res_change_nb(MPI_Session session, const char *assoc_pset, int *rc_type, char *delta_pset,
                                         int *incl, MPI_Request *request);
int PMPIX_Session_pset_create_op_nb(MPI_Session session, int op, const char *pset1, const char *pset2,
                                    char *pset_result, MPI_Request *request);
int PMPIX_Session_dyn_integrate_res_change_nb(MPI_Session session, MPI_Info info, const char *delta_pset,
                                              char *pset_name, int provider, int *terminate, MPI_Request *request);
int PMPIX_Session_request_res_change_nb(MPI_Session session, MPI_Info info, const char *assoc_pset, int rc_type,
                                        int nprocs, MPI_Request *request);

#if defined(__cplusplus)
}
#endif

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
