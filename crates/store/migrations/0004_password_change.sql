-- Whether somebody must choose another password before they do anything else.
alter table users add column must_change_password boolean not null default false;
